# SPDX-License-Identifier: Apache-2.0
"""Random numbers of distributions, with parameters for all and with one an element. Results are not compared: every
library has its own stream."""
from table import FLOATS, NEW, case


def sampler(name, toy, numpy, torch=None, jax=None, dtypes=("f64",)):
    case(name, toy, numpy, torch, jax, dtypes=dtypes, classes=NEW, tolerance=None)


sampler("uniform", "uniform(-1, 1, {n})", "rng.uniform(-1, 1, {n})", "torch.rand({n}, dtype=x.dtype).uniform_(-1, 1)")
sampler("normal", "normal(2, 3, {n})", "rng.normal(2, 3, {n})", "torch.empty({n}, dtype=x.dtype).normal_(2, 3)")
sampler(
    "exponential",
    "exponential(2, {n}, dtype=x.dtype)",
    "2 * rng.standard_exponential({n}, dtype=x.dtype)",
    "torch.empty({n}, dtype=x.dtype).exponential_(0.5)",
    dtypes=FLOATS,
)
sampler("gamma", "gamma(2.5, {n})", "rng.standard_gamma(2.5, {n})")
sampler("gamma below 1", "gamma(0.5, {n})", "rng.standard_gamma(0.5, {n})")
sampler("randint", "randint(0, 10, {n})", "rng.integers(0, 10, {n})", "torch.randint(0, 10, ({n},))")
sampler("poisson", "poisson(4, {n})", "rng.poisson(4, {n})", "torch.poisson(torch.full(({n},), 4.0))")
sampler("poisson of large means", "poisson(40, {n})", "rng.poisson(40, {n})", "torch.poisson(torch.full(({n},), 40.0))")
sampler("poisson of elements", "poisson(arange({n}) % 50)", "rng.poisson(np.arange({n}) % 50)")
sampler("binomial", "binomial(10, 0.3, {n})", "rng.binomial(10, 0.3, {n})")
sampler("binomial of many", "binomial(1000, 0.3, {n})", "rng.binomial(1000, 0.3, {n})")
sampler("permutation", "permutation({n})", "rng.permutation({n})", "torch.randperm({n})")
sampler("choice", "choice({n}, {n})", "rng.choice({n}, {n})")
sampler(
    "choice by p", "choice(5, {n}, p = [0.1, 0.2, 0.3, 0.3, 0.1])", "rng.choice(5, {n}, p=[0.1, 0.2, 0.3, 0.3, 0.1])"
)
sampler("choice once", "choice({n}, {n} // 2, replace = false)", "rng.choice({n}, {n} // 2, replace=False)")
sampler("keys", "keys(key(), {n})", None, jax="jax.random.key_data(jax.random.split(jax.random.key(1), {n}))")
