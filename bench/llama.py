# SPDX-License-Identifier: Apache-2.0
"""Decoding and prompts of the Llama example beside llama2.c's run.c, for random weights of published shapes, on one
thread and on two, in turns, the best of some rounds: tokens a second while decoding, the share of the bandwidth of
memory that reading all weights once a token takes, and for a prompt of 256 tokens the share of the machine's rate of
f32 products. run.c is not part of this repository: build it with `gcc -Ofast -march=native -fopenmp run.c -lm` and name
the program. Checkpoints of `run.c` are made in a folder for temporary files.
Usage: llama.py TOY RUN [SHAPE …]      (260K 15M 110M)"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy as np

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples/llama/random.toy"
#: size of a vector, layers, heads, groups, vocabulary; tokens that are decoded, rounds
SHAPES = {
    "260K": (64, 5, 8, 4, 512, 200, 5),
    "15M": (288, 6, 6, 6, 32000, 100, 4),
    "110M": (768, 12, 12, 12, 32000, 30, 2),
}
PROMPT = 256
PRODUCT = """def best(a, b) {
  var least = inf; var last = b @ a; var round = 0;
  while round < 15 { var begin = clock(); last = a @ b; var end = clock(); least = minimum(least, end - begin); round += 1; }
  return (least, last);
}
var a = rand(1024, 1024, dtype = f32); var b = rand(1024, 1024, dtype = f32);
print(2 * 1024.0 ** 3 / best(a, b)[0]);
def read(x) {
  var least = inf; var last = sum(x * f32(2)); var round = 0;
  while round < 15 { var begin = clock(); last = sum(x); var end = clock(); least = minimum(least, end - begin); round += 1; }
  return (least, last);
}
var x = rand(33554432, dtype = f32);
print(4.0 * size(x) / read(x)[0]);
"""


def checkpoint(path, dim, layers, heads, groups, vocabulary):
    """A file of run.c with random weights, and a tokenizer of made-up words beside it."""
    random, hidden, kv = np.random.default_rng(1), dim * 8 // 3, dim // heads * groups
    with open(f"{path}.bin", "wb") as file:
        file.write(struct.pack("7i", dim, hidden, layers, heads, groups, vocabulary, 1024))

        def write(*shape):
            file.write((random.standard_normal(shape, dtype=np.float32) / np.float32(shape[-1] ** 0.5)).tobytes())

        embedding = random.standard_normal((vocabulary, dim), dtype=np.float32)
        embedding[1] = 0  # the token that ends a text is never the likeliest
        file.write(embedding.tobytes())
        file.write(np.ones((layers, dim), np.float32).tobytes())
        for rows in (dim, kv, kv, dim):
            write(layers, rows, dim)
        file.write(np.ones((layers, dim), np.float32).tobytes())
        for shape in ((hidden, dim), (dim, hidden), (hidden, dim)):
            write(layers, *shape)
        file.write(np.ones(dim, np.float32).tobytes() + bytes(4 * 1024 * dim // heads))
    pieces = [b"<unk>", b"<s>", b"</s>"] + [f"<0x{i:02X}>".encode() for i in range(256)] + [b" "]
    pieces += [b"w%d" % i for i in range(vocabulary - len(pieces))]
    with open(f"{path}.tok", "wb") as file:
        file.write(struct.pack("i", max(map(len, pieces))))
        for i, piece in enumerate(pieces):
            file.write(struct.pack("fi", -float(i), len(piece)) + piece)


def output(command, threads):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")} | {
        "OMP_NUM_THREADS": str(threads)
    }
    pinned = ["taskset", "-c", "1" if threads == 1 else f"0-{threads - 1}", *map(str, command)]
    done = subprocess.run(pinned, capture_output=True, text=True, errors="replace", check=True, env=environment)
    return done.stdout, done.stderr


def measured(toy, run, threads, name, folder):
    """Tokens a second of Toy, of run.c, and of a prompt."""
    dim, layers, heads, groups, vocabulary, steps, rounds = SHAPES[name]
    path = f"{folder}/{name}"
    if not os.path.exists(f"{path}.bin"):
        checkpoint(path, dim, layers, heads, groups, vocabulary)
    ours = theirs = prompts = 0.0
    for _ in range(rounds):
        sizes = (dim, layers, heads, groups, vocabulary, steps, PROMPT)
        text = output([toy, f"--threads={threads}", EXAMPLE, *sizes], threads)[0]
        decoded, prompt = (float(x) for x in re.findall(r"[0-9.]+(?:e[+0-9]+)?", text)[:2])
        text = output([run, f"{path}.bin", "-z", f"{path}.tok", "-t", "0", "-n", str(steps)], threads)[1]
        ours, prompts = max(ours, decoded), max(prompts, prompt)
        theirs = max(theirs, float(re.search(r"tok/s: ([0-9.]+)", text).group(1)))
    return ours, theirs, prompts


def main():
    toy, run, names = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:] or list(SHAPES)
    print(
        "| shape | threads | toy, tokens/s | run.c | ratio | of memory's bandwidth | prompt, tokens/s | of products' rate |"
    )
    print("| --- " * 8 + "|")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(f"{folder}/rates.toy").write_text(PRODUCT)
        for threads in (1, 2):
            rates = [output([toy, f"--threads={threads}", f"{folder}/rates.toy"], threads)[0] for _ in range(2)]
            product, memory = (max(float(x) for x in both) for both in zip(*(text.split() for text in rates)))
            for name in names:
                dim, layers, heads, groups, vocabulary = SHAPES[name][:5]
                ours, theirs, prompts = measured(toy, run, threads, name, folder)
                weights = layers * (2 * dim * dim * (1 + groups / heads) + 3 * dim * (dim * 8 // 3))
                bandwidth = ours * 4 * (weights + vocabulary * dim) / memory
                work = 2 * weights + 4 * layers * dim * PROMPT
                print(
                    f"| {name} | {threads} | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} | {bandwidth:.2f} | "
                    f"{prompts:.0f} | {prompts * work / product:.2f} |",
                    flush=True,
                )
            print(f"{threads}: products {product / 1e9:.0f} GFLOP/s, memory {memory / 1e9:.0f} GB/s", file=sys.stderr)


if __name__ == "__main__":
    main()
