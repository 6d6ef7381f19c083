/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of extern functions: what a library exports so that the language can call it.

     extern def scale(x: c64[N], factor: f32) -> c64[N] from "./libmine.so" symbol "mine_scale";

   calls `int32_t mine_scale(const toy_call *call)`. Arguments are read only, results are allocated and uninitialized;
   all are dense, row-major and aligned to 64 bytes, scalars have rank 0. The declared result type is the shape
   function: its sizes follow from the arguments'. */
#ifndef TOY_EXTERN_H
#define TOY_EXTERN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a structure below changes; a function may refuse versions that it does not know. */
#define TOY_EXTERN_VERSION 1

enum toy_dtype { TOY_BOOL, TOY_U8, TOY_I32, TOY_I64, TOY_BF16, TOY_F16, TOY_F32, TOY_F64, TOY_C64, TOY_C128 };

typedef struct toy_tensor {
  int32_t dtype; /* toy_dtype; bool is a byte that is 0 or 1, complex numbers are two parts side by side */
  int32_t rank;
  const int64_t *sizes; /* rank of them */
  void *data;
} toy_tensor;

typedef struct toy_call {
  int32_t version; /* TOY_EXTERN_VERSION of the caller */
  int32_t argument_count, result_count;
  const toy_tensor *arguments, *results;
  char *message; /* text of an error, at most message_size bytes with the final 0 */
  int64_t message_size;
} toy_call;

/* 0, or any other number after an error. Called from one thread at a time. */
typedef int32_t (*toy_function)(const toy_call *call);

#ifdef __cplusplus
}
#endif
#endif
