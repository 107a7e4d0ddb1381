"""Times JAX and PyTorch on programs of the suite: value and gradient, in double precision, on one
thread, compiled where the peer compiles (jax.jit; PyTorch as it is usually run, without).

    peers.py jax|torch DATA NAME SIZES...

Prints rows `NAME part SIZES PEER microseconds low high`, medians and quartiles, after a comparison
with the golden values in DATA; status 3 if the peer is not installed, 4 if the program is not
written here.  A time has the call and the wait for the result in it, not compilation.
"""
import math
import os
import statistics
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", JAX_PLATFORMS="cpu",
                  XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")


class Jax:
    def __init__(self):
        import jax
        import jax.numpy as xp
        jax.config.update("jax_enable_x64", True)
        self.jax, self.xp, self.version = jax, xp, jax.__version__
        self.exp, self.log, self.tanh, self.sqrt = xp.exp, xp.log, xp.tanh, xp.sqrt
        self.sum = xp.sum
        self.sigmoid, self.softplus = jax.nn.sigmoid, jax.nn.softplus
        self.logsumexp = lambda x, axis: jax.scipy.special.logsumexp(x, axis=axis)

    def array(self, x):
        return self.xp.asarray(x)

    def loop(self, step, state, xs):
        """STATE after STEP with each of XS, and the sum of what STEP returns beside it."""
        def body(carry, x):
            state, loss = step(carry[0], x)
            return (state, carry[1] + loss), None
        return self.jax.lax.scan(body, (state, self.xp.zeros(())), xs)[0]

    def repeat(self, step, state, count):
        return self.jax.lax.scan(lambda s, _: (step(s), None), state, None, length=count)[0]

    def inner(self, field, value):
        return field.at[1:-1, 1:-1].set(value)

    def lower(self, d, diagonal, rest):
        """k lower triangles of d by d from their diagonals and the rest by columns."""
        i, j = zip(*[(i, j) for i in range(d) for j in range(i + 1, d)]) if d > 1 else ((), ())
        at = self.xp.arange(d)
        q = self.xp.zeros((diagonal.shape[0], d, d)).at[:, at, at].set(diagonal)
        i, j = self.xp.array(i, dtype=int), self.xp.array(j, dtype=int)
        return q.at[:, j, i].set(rest)

    def functions(self, f, x):
        value, gradient = self.jax.jit(f), self.jax.jit(self.jax.grad(f))
        return (lambda: self.jax.block_until_ready(value(x)),
                lambda: self.jax.block_until_ready(gradient(x)))


class Torch:
    def __init__(self):
        import torch
        torch.set_num_threads(1)
        torch.set_default_dtype(torch.float64)
        self.xp, self.version = torch, torch.__version__
        self.exp, self.log, self.tanh, self.sqrt = torch.exp, torch.log, torch.tanh, torch.sqrt
        self.sigmoid = torch.sigmoid
        # The library's softplus is linear from 20 on, which is not the function.
        self.softplus = lambda x: torch.logaddexp(x, torch.zeros_like(x))
        self.logsumexp = lambda x, axis: torch.logsumexp(x, dim=axis)
        self.sum = lambda x, axis=None: torch.sum(x) if axis is None else torch.sum(x, dim=axis)

    def array(self, x):
        return self.xp.as_tensor(x)

    def loop(self, step, state, xs):
        total = 0.0
        for x in zip(*xs) if isinstance(xs, tuple) else xs:
            state, loss = step(state, x)
            total = total + loss
        return state, total

    def repeat(self, step, state, count):
        for _ in range(count):
            state = step(state)
        return state

    def inner(self, field, value):
        field = field.clone()
        field[1:-1, 1:-1] = value
        return field

    def lower(self, d, diagonal, rest):
        i, j = zip(*[(i, j) for i in range(d) for j in range(i + 1, d)]) if d > 1 else ((), ())
        q = self.xp.diag_embed(diagonal)
        q = q.index_put((self.xp.arange(diagonal.shape[0])[:, None],
                         self.xp.tensor(j, dtype=int), self.xp.tensor(i, dtype=int)), rest)
        return q

    def functions(self, f, x):
        leaves = x if isinstance(x, tuple) else (x,)
        for leaf in leaves:
            leaf.requires_grad_(True)

        def value():
            with self.xp.no_grad():
                return f(x)
        return value, lambda: self.xp.autograd.grad(f(x), leaves)


# Each program: sizes in a file's first line; f(peer, sizes, active, constants) and how long the
# active inputs and the constants are.  What a user would write, without loops over elements.


def logreg(p, size, w, rest):
    n, d = size
    A, y = rest[:n * d].reshape(n, d), rest[n * d:]
    return lambda w: p.sum(p.softplus(-y * (A @ w))) + 0.005 * p.sum(w * w), w


def mlp(p, size, w, rest):
    n, d = size[0], size[1:]
    parts, at = [], 0
    for i in range(3):
        parts.append(w[at:at + d[i] * d[i + 1]].reshape(d[i], d[i + 1]))
        at += d[i] * d[i + 1]
        parts.append(w[at:at + d[i + 1]])
        at += d[i + 1]
    x = rest[:n * d[0]].reshape(n, d[0])
    label = p.array([int(v) for v in rest[n * d[0]:]])
    rows = p.array(list(range(n)))

    def loss(w):
        o = p.tanh(p.tanh(x @ w[0] + w[1]) @ w[2] + w[3]) @ w[4] + w[5]
        return p.sum(p.logsumexp(o, 1) - o[rows, label]) / n
    return loss, tuple(p.array(x) * 1.0 for x in parts)


def gmm(p, size, x, rest):
    d, k, n = size
    points, gamma, m = rest[:n * d].reshape(n, d), float(rest[n * d]), float(rest[n * d + 1])
    s = d * (d + 1) // 2
    active = (x[:k] * 1.0, x[k:k + k * d].reshape(k, d) * 1.0, x[k + k * d:].reshape(k, s) * 1.0)
    nu = d + m + 1
    normal = nu * d * (math.log(gamma) - 0.5 * math.log(2)) - 0.25 * d * (d - 1) * math.log(math.pi)
    normal -= sum(math.lgamma(0.5 * (nu - j)) for j in range(d))

    def loss(a):
        alpha, mu, icf = a
        q = p.lower(d, p.exp(icf[:, :d]), icf[:, d:])
        logdet = p.sum(icf[:, :d], 1)
        y = points[:, None, :] - mu
        z = p.xp.einsum("kij,nkj->nki", q, y)
        fit = p.sum(p.logsumexp(alpha + logdet - 0.5 * p.sum(z * z, 2), 1))
        prior = 0.5 * gamma ** 2 * p.sum(q * q) - m * p.sum(logdet) - k * normal
        return (fit - n * p.logsumexp(alpha, 0) - 0.5 * n * d * math.log(2 * math.pi) + prior)
    return loss, active


def lstm(p, size, x, rest):
    layers, c, b = size
    active = (x[:8 * layers * b].reshape(layers, 2, 4, b) * 1.0,
              x[8 * layers * b:].reshape(3, b) * 1.0)
    state = rest[:2 * layers * b].reshape(layers, 2, b)
    seq = rest[2 * layers * b:].reshape(c, b)

    def loss(a):
        w, extra = a

        def step(state, x):
            y, after = x[0] * extra[0], []
            for i in range(layers):
                hidden, cell = state[i]
                f = p.sigmoid(y * w[i, 0, 0] + w[i, 1, 0])
                g = p.sigmoid(hidden * w[i, 0, 1] + w[i, 1, 1])
                o = p.sigmoid(y * w[i, 0, 2] + w[i, 1, 2])
                cell = cell * f + g * p.tanh(hidden * w[i, 0, 3] + w[i, 1, 3])
                y = o * p.tanh(cell)
                after.append((y, cell))
            z = y * extra[1] + extra[2]
            return tuple(after), p.sum(x[1] * (z - p.log(2.0 + p.sum(p.exp(z)))))
        first = tuple((state[i, 0], state[i, 1]) for i in range(layers))
        return -p.loop(step, first, (seq[:-1], seq[1:]))[1] / (b * (c - 1))
    return loss, active


def kmeans(p, size, x, rest):
    k, d, n = size
    points = rest.reshape(n, d)

    def loss(c):
        u = points[:, None, :] - c
        least = p.sum(u * u, 2).min(1)
        return p.sum(least if isinstance(p, Jax) else least.values)
    return loss, x.reshape(k, d) * 1.0


def nbody(p, size, x, m):
    n = size[0]
    i, j = p.xp.triu_indices(n, 1) if isinstance(p, Jax) else p.xp.triu_indices(n, n, 1)

    def loss(r):
        u = r[:, i] - r[:, j]
        return -p.sum(m[i] * m[j] / p.sqrt(p.sum(u * u, 0) + 1e-4))
    return loss, x.reshape(3, n) * 1.0


def burgers(p, size, x, rest):
    n, steps = size
    target = rest.reshape(2, n, n)

    def advance(w, u, v):
        d1, d2 = w[2:, 1:-1] - w[:-2, 1:-1], w[1:-1, 2:] - w[1:-1, :-2]
        sums = w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4.0 * w[1:-1, 1:-1]
        return (w[1:-1, 1:-1] - 0.05 * (u[1:-1, 1:-1] * d1 + v[1:-1, 1:-1] * d2) + 0.1 * sums)

    def loss(w):
        def step(s):
            u, v = s
            return p.inner(u, advance(u, u, v)), p.inner(v, advance(v, u, v))
        u, v = p.repeat(step, (w[0], w[1]), steps)
        return 0.5 * (p.sum((u - target[0]) ** 2) + p.sum((v - target[1]) ** 2))
    return loss, x.reshape(2, n, n) * 1.0


def lbm(p, size, x, rest):
    n, steps = size
    target = rest.reshape(9, n, n)
    e = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    weights = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4

    def step(f):
        g = p.xp.stack([p.xp.roll(f[q], e[q], (0, 1)) for q in range(9)])
        rho = p.sum(g, 0)
        u, v = (sum(e[q][a] * g[q] for q in range(9) if e[q][a]) / rho for a in (0, 1))
        after = []
        for q in range(9):
            eu = e[q][0] * u + e[q][1] * v
            form = 1.0 + 3.0 * eu + 4.5 * eu * eu - 1.5 * (u * u + v * v)
            after.append((1.0 - 1.2) * g[q] + 1.2 * weights[q] * rho * form)
        return p.xp.stack(after)
    return (lambda f: 0.5 * p.sum((p.repeat(step, f, steps) - target) ** 2),
            x.reshape(9, n, n) * 1.0)


def rk4(f, s, h):
    k1 = f(s)
    k2 = f(s + 0.5 * h * k1)
    k3 = f(s + 0.5 * h * k2)
    k4 = f(s + h * k3)
    return s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def brusselator(p, size, x, rest):
    n, steps = size

    def around(w):
        return p.xp.roll(w, 1) - 2.0 * w + p.xp.roll(w, -1)

    def loss(x):
        A, B, alpha = x[2 * n], x[2 * n + 1], x[2 * n + 2]

        def slope(s):
            u, v = s[0], s[1]
            w = u * u * v
            return p.xp.stack([A + w - (B + 1.0) * u + alpha * around(u),
                               B * u - w + alpha * around(v)])
        s = p.repeat(lambda s: rk4(slope, s, 0.002), x[:2 * n].reshape(2, n), steps)
        return 0.5 * p.sum(s[0] ** 2)
    return loss, x * 1.0


def lorenz(p, size, x, rest):
    m, steps = size

    def loss(x):
        sigma, rho, beta = x[3 * m], x[3 * m + 1], x[3 * m + 2]

        def slope(s):
            return p.xp.stack([sigma * (s[1] - s[0]), s[0] * (rho - s[2]) - s[1],
                               s[0] * s[1] - beta * s[2]])
        s = p.repeat(lambda s: rk4(slope, s, 0.005), x[:3 * m].reshape(m, 3).T, steps)
        return 0.5 * p.sum(s ** 2)
    return loss, x * 1.0


def speelpenning(p, size, x, rest):
    return lambda x: p.xp.prod(x), x * 1.0


# The program, the golden problem, and the counts of active inputs and of constants by sizes.
PROGRAMS = {
    "brusselator": (brusselator, "more_brusselator", lambda n, t: (2 * n + 3, 0)),
    "burgers": (burgers, "more_burgers", lambda n, t: (2 * n * n, 2 * n * n)),
    "gmm": (gmm, "gmm_d2_K5_n1000", lambda d, k, n: (k * (1 + d + d * (d + 1) // 2), n * d + 2)),
    "kmeans": (kmeans, "kmeans_k5_d3_n500", lambda k, d, n: (k * d, n * d)),
    "lbm": (lbm, "more_lbm", lambda n, t: (9 * n * n, 9 * n * n)),
    "logreg": (logreg, "more_logreg", lambda n, d: (d, n * d + n)),
    "lorenz": (lorenz, "more_lorenz", lambda m, t: (3 * m + 3, 0)),
    "lstm": (lstm, "lstm_l1_c3_b2",
             lambda l, c, b: (8 * l * b + 3 * b, 2 * l * b + c * b)),
    "mlp": (mlp, "more_mlp", lambda n, a, b, c, d: (
        a * b + b + b * c + c + c * d + d, n * a + n)),
    "nbody": (nbody, "more_nbody", lambda n: (3 * n, n)),
    "speelpenning": (speelpenning, "more_speelpenning", lambda n: (n, 0)),
}


def check(peer, name, data):
    f, golden, counts = PROGRAMS[name]
    numbers = [float(x) for x in open(f"{data}/data/{golden}.txt").read().split()]
    heads = counts.__code__.co_argcount
    size = [int(x) for x in numbers[:heads]]
    active, _ = counts(*size)
    x = peer.array(numbers[heads:heads + active])
    loss, x = f(peer, size, x, peer.array(numbers[heads + active:]))
    want = float(open(f"{data}/golden/{golden}.F").read().split()[-1])
    got = float(peer.functions(loss, x)[0]())
    if not abs(got - want) <= 1e-10 * abs(want):
        sys.exit(f"peers.py: {name}: {got} is not {want}")


def problem(name, size, count):
    """Inputs of the same kind as the harness makes them."""
    import numpy
    rng = numpy.random.default_rng(1)
    active, rest = count
    if name == "logreg":
        n = size[0]
        return 0.1 * rng.normal(size=active), numpy.concatenate(
            [rng.normal(size=rest - n), rng.choice([-1.0, 1.0], n)])
    if name == "mlp":
        n = size[0]
        return 0.05 * rng.normal(size=active), numpy.concatenate(
            [rng.random(rest - n), rng.integers(size[4], size=n).astype(float)])
    if name == "gmm":
        return rng.normal(size=active), numpy.concatenate([rng.normal(size=rest - 2), [1.0, 0.0]])
    if name == "brusselator":
        return numpy.concatenate([1 + rng.random(active - 3), [1.0, 3.0, 20.0]]), None
    if name == "lorenz":
        return numpy.concatenate([1 + rng.random(active - 3), [10.0, 28.0, 8 / 3]]), None
    if name == "lbm":
        weights = numpy.repeat([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, size[0] ** 2)
        return weights * (1 + 0.01 * rng.random(active)), weights
    if name == "nbody":
        return rng.normal(size=active), rng.random(rest) / rest
    if name == "speelpenning":
        return 1 + (rng.random(active) - 0.5) / active ** 0.5, rng.random(rest)
    return rng.random(active), rng.random(rest)


def measure(call, seconds=1.0, rounds=15):
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    calls = max(1, int(2e-3 / once))
    times = []
    while len(times) < rounds and (len(times) < 5 or time.perf_counter() - start < seconds):
        begin = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - begin) / calls)
    low, median, high = statistics.quantiles(times, n=4)
    return 1e6 * median, 1e6 * low, 1e6 * high


def main():
    which, data, name = sys.argv[1:4]
    if name not in PROGRAMS:
        sys.exit(4)
    try:
        peer = {"jax": Jax, "torch": Torch}[which]()
    except ImportError:
        sys.exit(3)
    check(peer, name, data)
    for sizes in sys.argv[4:]:
        size = [int(x) for x in sizes.split(",")]
        f, _, counts = PROGRAMS[name]
        active, rest = problem(name, size, counts(*size))
        loss, x = f(peer, size, peer.array(active), rest if rest is None else peer.array(rest))
        for part, call in zip(("primal", "gradient"), peer.functions(loss, x)):
            row = "\t".join(f"{t:.3f}" for t in measure(call))
            print(f"{name}\t{part}\t{sizes}\t{which} {peer.version}\t{row}", flush=True)


main()
