# SPDX-License-Identifier: Apache-2.0
"""Every built-in function with every size of its arguments unknown while it is compiled: what its type rule takes to be
equal is tested when it runs.

A row has arguments, an expression, sizes that fit and sizes that do not. The expression stands in a function without
declared sizes, in functions whose every size has a name of its own or whose equal sizes have one name, and behind
masks, so that only the data decides the sizes. Sizes that fit give what the evaluator gives for the expression alone;
sizes that do not fail, with one code in all modes. A function of the table of built-ins or of the library without a row
is a failure."""
import os
import pathlib
import pty
import re
import subprocess
import termios
import threading

SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODES = {
    "auto": [],
    "always": ["--jit=always"],
    "never": ["--jit=never"],
    "dynamic": ["--dynamic=on"],
    "unpacked": ["--unpack"],
}
DAILY = [("never", "always", "dynamic"), ("never", "auto", "unpacked")]  # in turn; all of them at night
LATE = {
    "chunk": "R0132",
    "halves": "R0105",
}  # what only the data decides: how many parts there are, and that a computed size is 1
# What has no tensor argument, or whose argument is no tensor of any size.
WITHOUT_SIZES = {
    "seed",
    "with",
    "fail",
    "Error",
    "exit",
    "breakpoint",
    "env",
    "time",
    "date",
    "read_line",
    "sleep",
    "load",
    "save",
    "show",
    *"plot scatter_plot hist image picture".split(),
    "read_binary",
    "print",
    "write",
    *"list contains lines join strip replace find starts_with ends_with lower upper decode read_text write_text".split(),
    "bytes",
    "check",
    "clock",
    *"ranks barrier send recv all_reduce all_gather reduce_scatter all_to_all broadcast shift shard unshard".split(),
    "str",
    "fftfreq",
    "rfftfreq",
    "hann",
    "hamming",
    "blackman",
    "bartlett",
    "kaiser",
    "logspace",
}
UNARY = "real imag conj angle abs abs2 sign exp expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf floor ceil round trunc isnan isinf isfinite square sigmoid silu relu gelu sinc exp2 deg2rad rad2deg softplus"
PAIRS = "minimum maximum atan2 hypot pow complex polar logaddexp copysign heaviside"
# name | arguments | expression | sizes that fit | sizes that do not
TABLE = """
adjoint | x:c128[n,m] | adjoint(x) | 2,3 1,1 0,2 |
lu | x:f64[n,m] | lu(x)[2] | 2,3 3,2 1,1 |
slogdet | x:f64[n,m] | slogdet(x)[1] | 2,2 1,1 0,0 | 2,3
solve_triangular | a:f64[n,m] b:f64[k] | solve_triangular(a + eye(3), b) | 3,3,3 | 3,3,2
indices | x:f64[n,m] | indices(x.shape) | 2,3 1,1 0,2 |
block_diag | x:f64[n,m] y:f64[k] | block_diag(x, y) | 2,3,2 1,1,1 0,2,1 |
rfftn | x:f64[n,m] | rfftn(x) | 2,3 1,4 |
irfftn | x:f64[n,m] | irfftn(x) | 2,3 3,2 |
stft | x:f64[n] | stft(x, 4, 2) | 6 9 5 | 2
istft | x:f64[n] | istft(stft(x, 4, 1), 4, 1) | 6 9 |
median | x:f64[n,m] | median(x, 1) | 2,3 1,4 0,2 2,0 |
quantile | x:f64[n,m] q:f64[k] | quantile(x, abs(q) % 1, 0) | 2,3,2 3,1,1 |
percentile | x:f64[n] | percentile(x, 30) | 3 1 |
nansum | x:f64[n,m] | nansum(x, 1) | 2,3 0,2 2,0 |
nanprod | x:f64[n,m] | nanprod(x, 1) | 2,3 0,2 2,0 |
nanmean | x:f64[n,m] | nanmean(x, 0) | 2,3 1,2 |
nanvar | x:f64[n,m] | nanvar(x, 0) | 2,3 1,2 |
nanstd | x:f64[n,m] | nanstd(x) | 2,3 1,2 |
nanmin | x:f64[n,m] | nanmin(x, 1) | 2,3 1,1 | 2,0
nanmax | x:f64[n,m] | nanmax(x, 1) | 2,3 1,1 | 2,0
nanmedian | x:f64[n,m] | nanmedian(x, 1) | 2,3 1,4 2,0 |
diff | x:f64[n,m] | diff(x, 2) | 2,4 2,2 2,0 0,3 |
trapezoid | y:f64[n] x:f64[m] | trapezoid(y, x) | 3,3 1,1 2,2 | 4,3
cumulative_trapezoid | y:f64[n,m] | cumulative_trapezoid(y, axis=0) | 2,3 3,1 |
interp | x:f64[k] p:f64[n] f:f64[m] | interp(x, cumsum(abs(p)), f) | 2,3,3 0,1,1 3,2,2 | 2,3,2 2,0,0
searchsorted | a:f64[n] v:f64[m] | searchsorted(sort(a), v) | 3,2 0,2 2,0 |
digitize | x:f64[m] a:f64[n] | digitize(x, sort(a)) | 3,2 2,1 |
bincount | x:f64[n] w:f64[m] | bincount(i64(abs(x) * 3), w) | 3,3 1,1 0,0 | 3,2
histogram | x:f64[n] | histogram(x, 4)[0] | 3 1 0 |
moveaxis | x:f64[n,m,k] | moveaxis(x, 0, -1) | 2,3,4 0,1,2 |
meshgrid | x:f64[n] y:f64[m] | meshgrid(x, y)[1] | 2,3 0,2 1,1 |
tensordot | a:f64[n,m] b:f64[k,l] | tensordot(a, b, 1) | 2,3,3,2 1,1,1,1 | 2,3,2,2
cross | a:f64[n,m] b:f64[k,l] | cross(a, b) | 2,3,2,3 1,3,1,3 | 2,2,2,2
argwhere | x:f64[n,m] | argwhere(x > 0.5) | 2,3 0,2 |
isclose | a:f64[n,m] b:f64[k] | isclose(a, b) | 2,3,3 2,3,1 0,2,2 | 2,3,2
allclose | a:f64[n] b:f64[k] | allclose(a, b) | 3,3 3,1 0,0 | 3,2
array_equal | a:f64[n] b:f64[k] | array_equal(a, b) | 3,3 3,2 0,0 |
topk | x:f64[n,m] | topk(x, 2)[0] | 2,3 1,2 0,4 | 2,1
one_hot | x:f64[n] | one_hot(i64(abs(x)), 50) | 3 0 1 |
cross_entropy | x:f64[n,m] t:f64[k] | cross_entropy(x, i64(0 * t)) | 2,3,2 1,1,1 | 2,3,3
unwrap | x:f64[n,m] | unwrap(x) | 2,3 2,1 |
correlate | a:f64[n] v:f64[m] | correlate(a, v) | 3,2 3,3 1,1 |
rfft2 | x:f64[n,m] | rfft2(x) | 2,3 1,4 |
irfft2 | x:f64[n,m] | irfft2(x) | 2,3 3,2 |
put_add | x:f64[n] i:f64[m] v:f64[k] | put_add(x, i64(0 * i), v) | 3,2,2 1,1,1 2,3,1 | 3,2,3
index_add | x:f64[n,m] i:f64[k] v:f64[l,p] | index_add(x, 0, i64(0 * i), v) | 2,3,2,2,3 1,1,1,1,1 | 2,3,2,3,3
scatter_add | x:f64[n,m] i:f64[k,l] v:f64[p,q] | scatter_add(x, 1, i64(0 * i), v) | 2,3,2,3,2,3 1,1,1,1,1,1 | 2,3,2,3,2,2
rot90 | x:f64[n,m] | rot90(x) | 2,3 0,2 1,1 |
vander | x:f64[n] | vander(x, 3) | 3 1 0 |
toeplitz | c:f64[n] r:f64[m] | toeplitz(c, r) | 3,2 1,1 2,4 |
average | x:f64[n,m] w:f64[k] | average(x, 1, abs(w) + 1) | 2,3,3 1,1,1 | 2,3,2
cov | x:f64[n,m] | cov(x) | 2,3 1,4 3,2 |
corrcoef | x:f64[n,m] | corrcoef(x) | 2,3 3,4 |
polyval | p:f64[n] x:f64[m] | polyval(p, x) | 3,2 0,2 1,0 |
polymul | a:f64[n] b:f64[m] | polymul(a, b) | 3,2 1,1 2,4 |
polyder | p:f64[n] | polyder(p) | 3 1 |
polyfit | x:f64[n] y:f64[m] | polyfit(x + arange(len(x)), y, 1) | 3,3 4,4 | 3,2
pinv | x:f64[n,m] | pinv(x) | 2,3 3,2 1,1 |
matrix_rank | x:f64[n,m] | matrix_rank(x) | 2,3 3,2 |
eigvalsh | x:f64[n,m] | eigvalsh(x) | 2,2 1,1 3,3 | 2,3
svdvals | x:f64[n,m] | svdvals(x) | 2,3 3,2 1,1 |
cond | x:f64[n,m] | cond(x) | 2,3 3,2 1,1 |
expm | x:f64[n,m] | expm(x) | 2,2 1,1 3,3 | 2,3
null_space | x:f64[n,m] | null_space(x) | 2,3 3,2 1,1 |
log_softmax | x:f64[n,m] | log_softmax(x) | 2,3 1,1 |
nan_to_num | x:f64[n] | nan_to_num(x) | 3 0 |
view_as_real | x:c128[n] | view_as_real(x) | 3 1 0 |
view_as_complex | x:f64[n,m] | view_as_complex(x) | 3,2 1,2 0,2 | 3,1 3,3 2,0
clip | x:f64[n] a:f64[m] b:f64[k] | clip(x, a, b + 1) | 3,3,3 3,1,1 1,1,1 0,1,1 | 3,2,3 3,3,2
where | c:bool[n] a:f64[m] b:f64[k] | where(c, a, b) | 3,3,3 1,3,3 3,1,1 0,0,0 | 3,2,3 3,3,2 2,3,3
sum | x:f64[n,m] | sum(x, 1) | 2,3 0,3 3,0 1,1 |
sum | x:f64[n,m,k] | sum(x, axis=[0, 2]) | 2,3,4 1,1,1 0,2,3 2,0,3 |
prod | x:f64[n,m] | prod(x, 0, keepdims=true) | 2,3 0,3 3,0 |
max | x:f64[n,m] | max(x, 1) | 2,3 1,1 0,3 | 3,0 0,0
max | x:i64[n,m] | max(x, 0) | 2,3 1,1 3,0 | 0,3
max | x:f64[n,m] | max(x, 1, initial=-1.5) | 2,3 3,0 0,3 |
min | x:f64[n,m] | min(x) | 2,3 1,1 | 3,0 0,2
min | x:i64[n] | min(x, initial=7) | 3 0 |
any | x:f64[n,m] | any(x > 0.5, 1) | 2,3 3,0 0,3 |
all | x:f64[n,m] | all(x > 0.5) | 2,3 3,0 0,3 |
argmax | x:f64[n,m] | argmax(x, 1) | 2,3 1,1 0,2 | 2,0
argmax | x:f64[n,m] | argmax(x, keepdims=true) | 2,3 1,1 | 0,3 2,0
argmin | x:f64[n] | argmin(x) | 3 1 | 0
round | x:f64[n,m] | round(x, 1) | 2,3 0,3 |
map | x:f64[n,m] | map(r => 2 * r, x) | 2,3 0,3 3,0 1,1 |
map | x:f64[n,m] y:f64[k] | map(r => r @ y, x) | 2,3,3 0,1,1 | 2,3,2
tree_map | x:f64[n] y:f64[m] | tree_map((a, b) => a + b, (x, y), (y, x))[0] | 3,3 0,0 1,3 | 3,2
tree_fold | x:f64[n] y:f64[m] | tree_fold((a, b) => a + sum(b), 0.0, (x, y)) | 3,2 0,1 |
fold | x:f64[n,m] | fold((a, r) => a + sum(r), 0, x) | 2,3 0,3 3,0 1,1 |
cumsum | x:f64[n,m] | cumsum(x, 1) | 2,3 0,3 3,0 |
cumprod | x:f64[n,m] | cumprod(x) | 2,3 0,3 |
sort | x:f64[n,m] | sort(x, 0) | 3,2 0,2 2,0 |
argsort | x:f64[n,m] | argsort(x) | 3,2 0,2 2,0 |
reshape | x:f64[n,m] | reshape(x, [6]) | 2,3 3,2 6,1 | 2,2 0,3
reshape | x:f64[n,m] | reshape(x, [-1, 2]) | 2,3 2,2 0,3 | 3,3
reshape | x:f64[n] y:f64[m] | reshape(x, [m0(y)]) | 3,3 0,0 1,1 | 3,4 4,3 0,1
reshape | x:f64[n] | reshape(x, [x.shape[0] + 1]) | | 3 0
transpose | x:f64[n,m] | transpose(x) | 2,3 0,2 |
permute | x:f64[n,m,k] | permute(x, [2, 0, 1]) | 2,3,4 0,1,2 |
swapaxes | x:f64[n,m,k] | swapaxes(x, 0, -1) | 2,3,4 1,0,2 |
squeeze | x:f64[n,m] | squeeze(x, 0) | 1,3 1,0 1,1 | 2,3 0,3
squeeze | x:f64[n,m] | squeeze(x) | 1,3 2,3 3,1 1,1 |
unsqueeze | x:f64[n,m] | unsqueeze(x, 1) | 2,3 0,1 |
flatten | x:f64[n,m,k] | flatten(x, 1) | 2,3,4 0,1,2 2,0,3 |
expand | x:f64[n,m] | expand(x, 3, 4) | 3,4 1,4 3,1 1,1 | 2,4 3,2 0,4 3,0
expand | x:f64[n] y:f64[m] | expand(x, [2, m0(y)]) | 3,3 1,3 1,0 0,0 | 2,3 3,1 0,1
tile | x:f64[n,m] | tile(x, [2, 3]) | 2,2 1,1 0,2 |
repeat | x:f64[n,m] | repeat(x, 2, axis=1) | 2,3 1,1 0,2 |
cat | x:f64[n,m] y:f64[k,l] | cat([x, y]) | 2,3,4,3 0,3,1,3 1,0,2,0 | 2,3,2,2 1,1,1,3
append | x:f64[n,m] y:f64[k] | append(x, y) | 2,3,3 0,1,1 1,0,0 | 2,3,2 1,1,3
stack | x:f64[n] y:f64[m] | stack(x, y) | 3,3 1,1 0,0 | 3,1 1,3 2,3
split | x:f64[n] | split(x, [1, 2]) | 3 | 2 4 0
split | x:f64[n] | split(x, 2) | 4 3 2 1 |
chunk | x:f64[n] | chunk(x, 3) | 3 5 6 9 0 4 1 |
chunk | x:f64[n] | len(chunk(x, 2)) | 4 1 2 0 3 |
flip | x:f64[n,m] | flip(x, 1) | 2,3 0,2 2,0 |
roll | x:f64[n,m] | roll(x, 1, axis=1) | 2,3 0,2 2,0 |
roll | x:f64[n,m] | roll(x, -4) | 2,3 1,1 |
pad | x:f64[n,m] | pad(x, [1, 2]) | 2,3 0,1 |
diag | x:f64[n] | diag(x, 1) | 3 1 0 |
diag | x:f64[n,m] | diag(x, -1) | 3,3 2,3 3,2 1,1 0,2 |
tril | x:f64[n,m] | tril(x) | 2,3 3,2 0,2 |
triu | x:f64[n,m] | triu(x, 1) | 2,3 3,2 0,2 |
take | x:f64[n,m] i:i64[k] | take(x, i, 1) | 2,3,4 2,2,0 0,2,3 | 2,1,2 2,0,1
gather | x:f64[n,m] i:i64[k,l] | gather(x, 1, i) | 2,3,2,2 3,3,2,4 2,2,0,3 | 2,3,3,2 2,1,2,2
scatter | x:f64[n,m] i:i64[k,l] v:f64[p,q] | scatter(x, 1, i, v) | 2,3,2,2,2,2 3,3,1,2,1,2 | 2,3,2,2,2,3 2,3,2,2,1,2 2,3,3,2,3,2
nonzero | x:f64[n,m] | nonzero(x > 0.5) | 2,3 0,3 |
select | x:f64[n,m] | select(x, 0, 1) | 2,3 3,0 | 1,3 0,3
shape | x:f64[n,m] | shape(x) | 2,3 0,1 |
size | x:f64[n,m,k] | size(x, [0, 2]) | 2,3,4 0,1,1 |
rank | x:f64[n,m] | rank(x) | 2,3 |
len | x:f64[n,m] | len(x) | 2,3 0,3 |
item | x:f64[n] | item(x) | 1 | 0 2
matmul | x:f64[n,m] y:f64[k,l] | matmul(x, y) | 2,3,3,4 1,1,1,1 0,3,3,2 2,0,0,3 | 2,3,4,3 2,1,3,2 2,3,1,2
matmul | x:c128[n,m] y:c128[k] | matmul(x, y, strategy="gauss") | 2,3,3 1,1,1 0,2,2 | 2,3,2 2,3,1
matmul | x:f64[a,n,m] y:f64[b,k,l] | x @ y | 2,2,3,2,3,2 1,2,3,2,3,1 2,2,3,1,3,2 | 2,2,3,3,3,2 2,2,3,2,2,3
dot | x:f64[n] y:f64[m] | dot(x, y) | 3,3 1,1 0,0 | 3,1 1,3 2,3
det | x:f64[n,m] | det(x) | 2,2 1,1 0,0 | 2,3 3,2
inv | x:f64[n,m] | inv(x) | 2,2 1,1 0,0 | 2,3 3,2
solve | x:f64[n,m] y:f64[k] | solve(x, y) | 2,2,2 1,1,1 | 2,2,3 2,3,2 2,2,1
solve | x:f64[a,n,m] y:f64[k] | solve(x, y) | 2,2,2,2 3,1,1,1 0,2,2,2 | 2,2,2,3 2,2,3,2
solve | x:f64[a,n,m] y:f64[b,k,l] | solve(x, y) | 2,2,2,2,2,3 1,2,2,3,2,1 3,2,2,1,2,2 | 2,2,2,3,2,1 2,2,2,2,3,1
solve | x:f64[n,m] y:f64[b,k,l] | solve(x, y) | 2,2,2,2,3 2,2,0,2,1 | 2,2,2,3,1 2,3,2,2,1
lstsq | x:f64[n,m] y:f64[k] | lstsq(x, y)[0] | 3,2,3 2,2,2 | 3,2,2 3,2,1
cholesky | x:f64[n,m] | cholesky(x) | 2,2 1,1 0,0 | 2,3 3,2
qr | x:f64[n,m] | qr(x)[1] | 2,3 3,2 1,1 |
svd | x:f64[n,m] | svd(x)[1] | 2,3 3,2 1,1 |
eig | x:f64[n,m] | eig(x)[0] | 2,2 1,1 | 2,3 3,2
eigvals | x:f64[n,m] | eigvals(x) | 2,2 1,1 | 2,3 3,2
eigh | x:f64[n,m] | eigh(x)[0] | 2,2 1,1 0,0 | 2,3 3,2
roots | x:f64[n] | roots(x) | 3 2 |
einsum | x:f64[n,m] y:f64[k,l] | einsum("ij,jk->ik", x, y) | 2,3,3,4 1,1,1,1 0,2,2,3 | 2,3,2,3 2,3,1,2
einsum | x:f64[n,m] | einsum("ii->i", x) | 3,3 1,1 0,0 | 2,3 3,1
einsum | x:f64[n] y:f64[m] | einsum("i,i->i", x, y) | 3,3 1,1 | 3,1 2,3
fft | x:f64[n,m] | fft(x) | 2,3 1,1 0,2 | 2,0
fft | x:f64[n,m] | fft(x, n=4, axis=0) | 2,3 5,1 0,2 |
ifft | x:c128[n,m] | ifft(x, axis=0) | 2,3 1,1 | 0,2
rfft | x:f64[n] | rfft(x) | 4 3 1 | 0
irfft | x:c128[n] | irfft(x) | 3 2 | 1 0
fft2 | x:f64[n,m] | fft2(x) | 2,3 1,1 | 0,2 2,0
ifft2 | x:c128[n,m] | ifft2(x) | 2,3 1,1 | 0,2 2,0
fftn | x:f64[n,m] | fftn(x) | 2,3 | 2,0
ifftn | x:c128[n,m] | ifftn(x) | 2,3 | 2,0
fftshift | x:f64[n,m] | fftshift(x) | 2,3 0,2 |
ifftshift | x:f64[n,m] | ifftshift(x, axes=[1]) | 2,3 2,0 |
conv1d | x:f64[a,b,c] w:f64[d,e,f] | conv1d(x, w) | 1,2,5,3,2,3 2,1,3,1,1,3 | 1,2,5,3,1,3 1,2,2,3,2,3 1,2,5,3,2,6
conv2d | x:f64[a,b,c,d] w:f64[e,f,g,h] | conv2d(x, w, padding=1) | 1,2,3,3,2,2,3,3 1,1,2,4,2,1,3,2 | 1,2,3,3,2,1,3,3 1,1,1,1,1,1,4,4
conv_transpose | x:f64[a,b,c] w:f64[d,e,f] | conv_transpose(x, w, stride=2) | 1,2,3,2,1,3 2,1,1,1,2,2 | 1,2,3,1,1,3
zeros | x:f64[n] | zeros(m0(x), 2) | 3 0 |
zeros | x:f64[n] | zeros(m0(x) - 2) | 3 2 | 1 0
ones | x:f64[n] | ones(m0(x)) + x | 3 1 0 |
full | x:f64[n] | full([m0(x), 2], 3) | 3 0 |
zeros_like | x:f64[n,m] | zeros_like(x) | 2,3 0,1 |
ones_like | x:f64[n,m] | ones_like(x) | 2,3 0,1 |
full_like | x:f64[n,m] | full_like(x, 2) | 2,3 0,1 |
eye | x:f64[n,m] | eye(m0(x), m=m0(x.T)) | 2,3 0,2 1,1 |
arange | x:f64[n] | arange(m0(x)) | 3 0 |
linspace | x:f64[n] | linspace(0, 1, m0(x)) | 3 1 0 |
rand | x:f64[n] | rand(m0(x)).shape | 3 0 |
randn | x:f64[n] | randn(m0(x), 2).shape | 3 0 |
uniform | x:f64[n] | uniform(x, 2 * x, m0(x), key = key(1)) | 3 0 |
normal | x:f64[n,m] | normal(x, [1.0], key = key(1)) | 2,3 0,1 |
exponential | x:f64[n] | exponential(abs(x), 2, m0(x), key = key(1)) | 3 0 |
gamma | x:f64[n] | gamma(abs(x), scale = abs(x), key = key(1)) | 3 0 |
randint | x:f64[n] | randint(0, m0(x) + 1, m0(x), key = key(1)) | 3 0 |
poisson | x:f64[n] | poisson(abs(x), m0(x), key = key(1)) | 3 0 |
binomial | x:f64[n] | binomial(m0(x), 0.5, m0(x), key = key(1)) | 3 0 |
permutation | x:f64[n,m] | permutation(x, key = key(1)) | 2,3 0,1 |
choice | x:f64[n,m] | choice(x, m0(x), replace = false, key = key(1)) | 2,3 0,1 |
key | x:f64[n] | key(m0(x)) | 3 0 |
fold_in | x:i64[n] | fold_in(key(1), x) | 3 0 |
keys | x:f64[n] | keys(key(1), m0(x)) | 3 0 |
mean | x:f64[n,m] | mean(x, 1, keepdims=true) | 2,3 1,1 0,3 |
mean | x:f64[n,m] | mean(x, keepdims=true) | 2,3 1,1 |
var | x:f64[n,m,k] | var(x, axis=(0, 2)) | 2,3,4 1,1,1 |
std | x:f64[n,m] | std(x, [0, 1], keepdims=true) | 2,3 1,1 |
norm | x:c128[n,m] | norm(x, keepdims=true) | 2,3 0,3 |
softmax | x:f64[n,m] | softmax(x) | 2,3 1,1 3,0 0,3 |
softmax | x:f64[n,m] | softmax(x, axis=[0, 1]) | 2,3 1,1 0,3 |
logsumexp | x:f64[n] | logsumexp(x) | 3 1 0 |
logsumexp | x:f64[n,m] | logsumexp(x, [0, 1], keepdims=true) | 2,3 1,1 0,2 |
unique | x:i64[n] | unique(x) | 4 1 0 |
vdot | x:c128[n] y:c128[m] | vdot(x, y) | 3,3 1,1 0,0 | 3,1 1,3 2,3
outer | x:f64[n] y:f64[m] | outer(x, y) | 3,2 1,1 0,2 |
trace | x:f64[n,m] | trace(x) | 2,2 2,3 0,2 |
kron | x:f64[n,m] y:f64[k] | kron(x, y) | 2,3,1 1,1,1 0,1,2 |
kron | x:f64[n,m] y:f64[k,l] | kron(x, y) | 2,3,1,2 1,1,1,1 0,1,2,2 |
matrix_power | x:f64[n,m] | matrix_power(x, 3) | 2,2 1,1 | 2,3 3,2
convolve | x:f64[n] y:f64[m] | convolve(x, y) | 3,2 2,3 1,1 |
rmsnorm | x:f64[n,m] y:f64[k] | rmsnorm(x, y) | 2,3,3 1,1,1 2,3,1 | 2,3,2
layernorm | x:f64[n,m] y:f64[k] z:f64[l] | layernorm(x, y, z) | 2,3,3,3 1,1,1,1 | 2,3,2,3 2,3,3,2
attention | q:f64[n,m] k:f64[a,b] v:f64[c,d] | attention(q, k, v) | 2,3,4,3,4,2 1,1,1,1,1,1 2,3,0,3,0,2 | 2,3,4,2,4,2 2,3,4,3,3,2 2,3,4,3,1,2
rope | x:f64[n,m,k] w:c128[a,b] | rope(x, w) | 2,3,4,2,2 1,1,2,1,1 | 2,3,4,2,3 2,3,4,3,2
"""
# Not functions, but of the same kind: statements that store, index and repeat.
STATEMENTS = """
q.imag = r | q:c128[n] r:f64[m] | var z = q; z.imag = r; return z; | 3,3 3,1 1,1 0,0 0,1 | 1,3 3,2 2,3 0,2
q.real = r | q:c128[n,m] r:f64[k] | var z = q; z.real = r; return z; | 2,3,3 2,3,1 1,1,1 | 2,1,3 2,3,2
x[:] = y | x:f64[n] y:f64[m] | var z = x; z[:] = y; return z; | 3,3 3,1 0,0 0,1 | 1,3 3,2 0,2
x[1:] = y | x:f64[n] y:f64[m] | var z = x; z[1:] = y; return z; | 3,2 3,1 0,0 1,0 | 3,3 2,2 2,0
x[i] = y | x:f64[n] i:i64[k] y:f64[m] | var z = x; z[i] = y; return z; | 3,2,2 3,2,1 3,0,0 | 3,2,3 1,2,2 0,1,1
x[mask] = y | x:f64[n] c:bool[k] y:f64[m] | var z = x; z[c] = y; return z; | 3,3,2 3,3,1 1,1,1 | 3,3,3 3,2,1 2,3,1
x[mask] | x:f64[n,m] c:bool[k] | return x[c]; | 2,3,2 0,3,0 1,1,1 | 2,3,3 3,2,1
x[i, j] | x:f64[n,m] i:i64[k] j:i64[l] | return x[i, j]; | 2,3,2,2 2,2,2,1 2,2,0,0 | 2,3,2,3 1,2,2,2
x[0] | x:f64[n,m] | return x[0]; | 2,3 1,0 | 0,3
for | x:f64[n] | var s = 0.0; for i in range(x.shape[0]) { s += x[0]; } return s; | 3 1 0 |
x + y | x:f64[n,m] y:f64[k] | return x + y; | 2,3,3 2,1,3 2,3,1 0,3,3 | 2,3,2 2,2,3
+= | x:f64[n] y:f64[m] | var z = x; z += y; return z; | 3,3 3,1 1,3 | 3,2
halves | x:f64[n] y:f64[m] | var h = x.shape[0] // 2; var v = x[:h] + x[x.shape[0] - h:]; return v * y; | 8,4 6,3 2,5 2,1 8,1 0,0 | 8,3 6,2
"""


class Row:
    def __init__(self, line, is_statement):
        name, arguments, text, good, bad = (part.strip() for part in line.split("|"))
        self.name = name
        self.body = text if is_statement else f"return {text};"
        self.good, self.bad = ([[int(n) for n in cell.split(",")] for cell in cells.split()] for cells in (good, bad))
        self.arguments = []
        for argument in arguments.split():
            parameter, kind = argument.split(":")
            dtype, sizes = kind[:-1].split("[")
            self.arguments.append((parameter, dtype, sizes.split(",")))

    def shapes(self, cell):
        rest = list(cell)
        return [[rest.pop(0) for _ in sizes] for _, _, sizes in self.arguments]

    def body_of(self, text):
        return re.sub(r"\bm0\((\w+(?:\.T)?)\)", r"\1.shape[0]", text)


def rows():
    out = [
        Row(
            f"{name} | x:{'c128' if name in ('real', 'imag', 'conj', 'angle', 'abs', 'abs2') else 'f64'}[n] | {name}(x) | 3 1 0 |",
            False,
        )
        for name in UNARY.split()
    ]
    out += [
        Row(f"{name} | x:f64[n] y:f64[m] | {name}(x, y) | 3,3 3,1 1,3 1,1 0,0 0,1 | 3,2 2,3 0,2", False)
        for name in PAIRS.split()
    ]
    for table, is_statement in ((TABLE, False), (STATEMENTS, True)):
        out += [Row(line, is_statement) for line in table.strip().splitlines()]
    return out


def literal(dtype, shape, seed):
    """Values of a shape; matrices have a large diagonal."""
    count = 1
    for n in shape:
        count *= n
    if count == 0:
        return f"zeros([{', '.join(map(str, shape))}], dtype={dtype if dtype != 'bool' else 'f64'})" + (
            " > 1" if dtype == "bool" else ""
        )

    def value(k, index):
        if dtype == "bool":
            return "true" if k % 3 != 1 else "false"
        if dtype == "i64":
            return str((k + seed) % 2)
        x = ((7 * k + 3 * seed) % 11) / 16 + 0.25 + (4 if len(index) > 1 and index[-1] == index[-2] else 0)
        return f"{x}" if dtype == "f64" else f"{x}{'+' if k % 2 else '-'}{0.5 + k / 8}i"

    def nested(prefix, k):
        if len(prefix) == len(shape):
            return value(k, prefix)
        return (
            "[" + ", ".join(nested(prefix + [i], k * shape[len(prefix)] + i) for i in range(shape[len(prefix)])) + "]"
        )

    text = nested([], 0)
    return f"{dtype}({text})" if dtype in ("i64", "c128") else text


def declared(row, tied):
    """Parameters with a name for every size; `tied`: one name for sizes that are equal in the first cell that fits."""
    names, first = {}, (row.good or row.bad)[0]
    flat, parameters = iter(first), []
    for i, (parameter, dtype, sizes) in enumerate(row.arguments):
        own = []
        for j, _ in enumerate(sizes):
            n = next(flat)
            own.append(names.setdefault(n, f"N{n}") if tied and n > 1 else f"S{i}_{j}")
        parameters.append(f"{parameter}: {dtype}[{', '.join(own)}]")
    return ", ".join(parameters)


def late(row, body):
    """The body, of copies that are behind masks that are true everywhere: only the data decides how many elements they
    select."""
    text = ""
    for parameter, _, sizes in row.arguments:
        text += f"var {parameter}_ = {parameter}; "
        for axis in range(len(sizes)):
            text += f"{parameter}_ = {parameter}_[{':, ' * axis}ones({parameter}.shape[{axis}]) > 0]; "
        body = re.sub(rf"(?<![.\w\"]){parameter}\b(?!\s*=[^=])(?![\w\"])", f"{parameter}_", body)
    return text + body


def forms(row, number):
    """A row's forms: name, definition, and the function's name."""
    body, names = row.body_of(row.body), ", ".join(p for p, _, _ in row.arguments)
    yield "undeclared", f"def u{number}({names}) {{ {body} }}", f"u{number}"
    yield "declared", f"def d{number}({declared(row, False)}) {{ {body} }}", f"d{number}"
    yield "tied", f"def t{number}({declared(row, True)}) {{ {body} }}", f"t{number}"
    yield "late", f"def l{number}({names}) {{ {late(row, body)} }}", f"l{number}"


def session(toy, flags, lines):
    """What each line of a prompt printed, errors included: they do not end it. And all that was printed."""
    master, slave = pty.openpty()
    state = termios.tcgetattr(slave)
    state[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, state)
    process = subprocess.Popen(
        [toy, "--color=never", *flags],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(slave)
    parts = []
    reader = threading.Thread(target=lambda: parts.extend(iter(lambda: process.stdout.read1(1 << 16), b"")))
    reader.start()

    def type_all():
        try:
            for i, line in enumerate(lines):
                os.write(master, f'print("@{i}@");\n{line}\n'.encode())
            os.write(master, b":quit\n")
        except OSError:
            pass  # it ended

    writer = threading.Thread(target=type_all)
    writer.start()
    try:
        process.wait(240)
    except subprocess.TimeoutExpired:
        process.kill()
    termios.tcflush(master, termios.TCIOFLUSH)  # nobody reads what is left
    writer.join(5)
    os.close(master)
    reader.join()
    text = b"".join(parts).decode(errors="replace")
    found = re.split(r"@(\d+)@\r?\n", text)
    answers = dict(zip(map(int, found[1::2]), found[2::2]))
    return [answers.get(i, "") for i in range(len(lines))], text


def outcome(text):
    """An error's code, or what was printed without blanks and prompts."""
    error = re.search(r"error\[(\w+)\]", text)
    if error:
        return error.group(1)
    return re.sub(r"\s+|toy>|\.\.\.>", "", text)


def same(a, b):
    number = re.compile(r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)")
    if number.sub("#", a.replace("+", " ")) != number.sub("#", b.replace("+", " ")):
        return False
    return all(
        x == y or abs(float(x) - float(y)) <= 1e-9 * max(1, abs(float(y)))
        for x, y in zip(number.findall(a), number.findall(b))
    )


def program(row, number, left_out=None):
    """Inputs, and for each its form and cell: definitions have no cell. Sizes that fit and sizes that do not take
    turns."""
    lines, kinds = [], []
    cells = [(cell, True) for cell in row.good] + [(cell, False) for cell in row.bad]
    cells = cells[::2] + cells[1::2]
    for form, definition, name in forms(row, number):
        if form == left_out:
            continue
        lines.append(definition)
        kinds.append((form, None))
        for i, (cell, _) in enumerate(cells):
            arguments = (
                literal(dtype, shape, k)
                for k, ((_, dtype, _), shape) in enumerate(zip(row.arguments, row.shapes(cell)))
            )
            lines.append(f"print({name}({', '.join(arguments)}));")
            kinds.append((form, i))
    return lines, kinds, cells


CODE = re.compile(r"[A-Z]\d{4}")
REFUSALS = {
    "T0336",
    "T0339",
}  # of definitions: what is taken to be equal does not follow from names; the number of axes or parts is not known


def judged(name, cells, results):
    """What is wrong with the outcomes of a row: results[mode] has the outcomes by form and cell. The reference is
    evaluated, with all sizes known."""
    problems = []
    reference = {
        cell: text
        for (form, cell), text in results.pop("reference").items()
        if form == "undeclared" and cell is not None
    }
    for cell, text in reference.items():
        if bool(CODE.fullmatch(text)) == cells[cell][1]:
            problems.append(f"reference, sizes {cells[cell]}: {text}")
    codes = {}
    for mode, answers in results.items():
        for (form, cell), text in answers.items():
            definition = answers[form, None]
            if cell is None and definition and (form in ("undeclared", "late") or definition not in REFUSALS):
                problems.append(f"{mode}, {form}: the definition gives {definition}")
            if cell is None or definition:
                continue
            sizes, fits = cells[cell]
            is_error = bool(CODE.fullmatch(text))
            where = f"{mode}, {form}, sizes {sizes}: {text[:200]}"
            mayFail = (
                form in ("declared", "tied")
                or (form == "late" and 1 in sizes and text == "R0105")
                or (form == "late" and (text in REFUSALS or text == LATE.get(name)))
            )
            if not text or text.startswith("X"):
                problems.append(f"{where} (a fault)")
            elif not fits and not is_error:
                problems.append(f"{where}, no error")
            elif fits and is_error and not mayFail:
                problems.append(f"{where}, an error")
            elif fits and not is_error and not same(text, reference[cell]):
                problems.append(f"{where}, not {reference[cell][:200]}")
            if is_error:
                codes.setdefault((form, cell), {}).setdefault(text, mode)
    return problems + [
        f"{form}, sizes {cells[cell][0]}: codes {found}" for (form, cell), found in codes.items() if len(found) > 1
    ]


def check(toy, chosen, modes=MODES, every_form=True):
    """Some rows in all modes, each mode in one session; with declared sizes of one kind or, in `every_form`, of
    both."""
    programs = [program(row, i, None if every_form else ("tied", "declared")[i % 2]) for i, row in enumerate(chosen)]
    outcomes = [{} for _ in chosen]
    for mode, flags in {"reference": ["--jit=never", "--dynamic=off"], **modes}.items():
        answers, text = session(toy, flags, [line for lines, _, _ in programs for line in lines])
        rest = iter(answers)
        for found, (_, kinds, _) in zip(outcomes, programs):
            found[mode] = {kind: outcome(next(rest)) for kind in kinds}
    problems = []
    for row, found, (lines, _, cells) in zip(chosen, outcomes, programs):
        if wrong := judged(row.name, cells, found):
            problems += [f"{row.name}: {row.body}", *wrong]
    return "\n".join(problems) or None


def missing(toy):
    """Functions of the table and of the library that no row calls."""
    with open(os.path.join(SOURCES, "irgen", "Builtins.def")) as file:
        names = re.findall(r"^TOY_BUILTIN\(([a-zA-Z]\w*),", file.read(), re.M)
    for path in sorted(pathlib.Path(SOURCES, "lib", "toy").glob("*.toy")):
        names += re.findall(r"^def ([a-z]\w*)\(", path.read_text(), re.M)
    have = {row.name for row in rows()} | WITHOUT_SIZES
    return "\n".join(f"no row calls {name}" for name in names if name not in have) or None


SHARD = 10


def all_cases():
    yield "symbolic sizes: every function has a row", missing
    every = rows()
    for begin in range(0, len(every), SHARD):
        chosen, modes = every[begin : begin + SHARD], DAILY[begin // SHARD % len(DAILY)]
        name = f"symbolic sizes: {chosen[0].name} to {chosen[-1].name} ({begin // SHARD})"
        daily = {mode: MODES[mode] for mode in modes}
        yield name, lambda toy, c=chosen, m=daily: check(toy, c, m, False), "long"
        yield f"{name} in every mode", lambda toy, c=chosen: check(toy, c), "nightly"


if __name__ == "__main__":
    import sys

    problem = missing(sys.argv[1])
    chosen = [row for row in rows() if len(sys.argv) < 3 or row.name in sys.argv[2:]]
    for begin in range(0, len(chosen), SHARD):
        problem = "\n".join(filter(None, [problem, check(sys.argv[1], chosen[begin : begin + SHARD])]))
    print(problem or f"{len(chosen)} rows hold")
