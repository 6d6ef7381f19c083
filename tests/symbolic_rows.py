# SPDX-License-Identifier: Apache-2.0
"""What symbolic.py runs with sizes that are not known: a row for each function, with sizes that fit and that do not."""

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
isin | x:f64[n,m] y:f64[k] | isin(x, y) | 2,3,2 1,1,0 0,2,3 |
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
