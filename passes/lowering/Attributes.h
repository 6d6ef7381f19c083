// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the emitters tell the engine of a function, by attributes.
#pragma once

namespace toy {

/// A loop that depends on nothing but its arguments and what the runtime exports: any program can use it.
constexpr char sharedKernel[] = "toy.kernel";
/// A function that such a loop calls at its beginning, if it may turn out to be little used, with how many elements its
/// operations compute in this call.
constexpr char kernelElements[] = "toy.elements";
/// A function of elements or a version of it for vectors, which loops may call after they were vectorized: until then
/// none of them loses an argument that all calls agree on.
constexpr char vectorVariant[] = "toy.variant";
/// With the row of an element function (runtime/ElementFunctions.h), its functions of a register and of two.
constexpr char laneFunctionPrefix[] = "toy_rt_lanes_", lanePairPrefix[] = "toy_rt_pairs_";
/// A function that runs once in its life, or once a call of the session: if it has no loops, its time is nothing beside
/// that of optimizing it.
constexpr char runsOnce[] = "toy.once";
/// A property of a loop (`llvm.loop`): the number of its place among those of the module, for remarks.
constexpr char loopNumber[] = "toy.loop";
/// Of a branch that compares an index with a size: the number of its place among those of the module, for remarks.
constexpr char checkNumber[] = "toy.check";
/// A list of the module: the numbers of checks that are made once, before their loop (jit/HoistChecks.h).
constexpr char hoistedChecks[] = "toy.hoisted";
/// What a loop calls at the end of each turn, with the number of its place in the module, the turns between two looks
/// for Ctrl-C and, in a statement, what `toy_rt_turn` takes. The looks are made when LLVM has simplified the loop
/// (jit/StripTurns.h).
constexpr char turnMark[] = "toy.turn";
/// The look for Ctrl-C of a function that may call itself, as metadata of the read of the flag.
constexpr char entryPoll[] = "toy.entry";

} // namespace toy
