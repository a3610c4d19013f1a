"""Compares whole logit vectors of a program with a live reference, prompt by prompt.

    python check.py --model SmolLM2-135M-Instruct.Q4_1.gguf --program build/golden_logits
    python check.py --model ... --dumps FOLDER        FOLDER/NAME.f32 are there already
    python check.py --model ... --tokens FOLDER       only writes FOLDER/NAME.tokens

The program is called as `PROGRAM --model M --tokens FILE --out F`: FILE has token ids separated
by white space (prompt and continuation), F gets raw little-endian float32 [positions, vocab], of
all positions or of the last ones. The reference is llama.cpp on the F32 twin (--reference
llamacpp, the default), or the float64 forward of reference.py (--reference float64).

Fails (exit code 1) where the relative L2 error of a position is above --tolerance, or the argmax
differs though the reference's top two are further apart than ten times the tolerance times the
root mean square of that position's logits, which is the size of error one logit may have.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import llamacpp  # noqa: E402
import reference  # noqa: E402

ROOM = 1024


def read_prompts():
    for line in (HERE / "prompts.txt").read_text().splitlines():
        name, _, _, prompt, continuation = line.split("\t")
        yield name, [int(i) for i in f"{prompt} {continuation}".split()]


def obtain(given, name, ids, folder, vocab):
    """The program's logits [positions, vocab]."""
    dump = pathlib.Path(given.dumps or folder) / f"{name}.f32"
    if given.program:
        tokens = pathlib.Path(folder) / f"{name}.tokens"
        tokens.write_text(" ".join(map(str, ids)) + "\n")
        subprocess.run([given.program, "--model", given.model, "--tokens", tokens, "--out", dump],
                       check=True)
    values = np.fromfile(dump, "<f4")
    if given.program:
        dump.unlink()
    if values.size == 0 or values.size % vocab or values.size // vocab > len(ids):
        raise SystemExit(f"{dump}: {values.size} values are not 1 to {len(ids)} rows of {vocab}")
    return values.reshape(-1, vocab)


def compare(got, want, tolerance):
    """One line of the table, and whether it passes."""
    error = reference.relative_l2(got, want)
    error = np.where(np.isfinite(error), error, np.inf)
    top = np.sort(np.partition(want, -2, axis=1)[:, -2:], axis=1)
    rms = np.sqrt(np.mean(np.square(want, dtype=np.float64), axis=1))
    clear = top[:, 1] - top[:, 0] > 10 * tolerance * rms
    equal = got.argmax(1) == want.argmax(1)
    worst = int(error.argmax())
    column = int(np.abs(got[worst] - want[worst]).argmax())
    good = bool((error <= tolerance).all() and equal[clear].all())
    line = (f"{len(got):5} {error.max():10.2e} {np.median(error):10.2e} "
            f"{(equal & clear).sum():4}/{clear.sum():<4} {equal.sum():4}/{len(equal):<4} "
            f"row {worst} id {column}: {got[worst, column]:.6g}, want {want[worst, column]:.6g}")
    return line, good, error.max()


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", required=True)
    options.add_argument("--f32", help="the F32 twin; written here if it does not exist")
    options.add_argument("--program")
    options.add_argument("--dumps", metavar="FOLDER")
    options.add_argument("--tokens", metavar="FOLDER")
    options.add_argument("--reference", choices=["llamacpp", "float64"], default="llamacpp")
    options.add_argument("--tolerance", type=float, default=1e-4)
    options.add_argument("--only", metavar="NAME")
    given = options.parse_args()
    prompts = [p for p in read_prompts() if given.only in (None, p[0])]
    if not prompts:
        options.error(f"no prompt is called {given.only}")
    if given.tokens:
        for name, ids in prompts:
            text = " ".join(map(str, ids)) + "\n"
            (pathlib.Path(given.tokens) / f"{name}.tokens").write_text(text)
        return
    if bool(given.program) == bool(given.dumps):
        options.error("give one of --program and --dumps")
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(run(given, prompts, folder))


def run(given, prompts, folder):
    twin = pathlib.Path(given.f32 or pathlib.Path(folder) / "twin.gguf")
    if not twin.exists():
        reference.write_f32_twin(given.model, twin)
    if given.reference == "llamacpp":
        decoder = llamacpp.Decoder(twin, ROOM)
        forward, vocab = decoder.logits, decoder.size
    else:
        model = reference.Model(twin)
        forward, vocab = model.forward, len(model.weights["token_embd.weight"])
    print(f"{'prompt':16} {'rows':>5} {'max L2':>10} {'median L2':>10} {'clear':>9} {'argmax':>9} "
          "worst")
    failed, worst = 0, 0.0
    for name, ids in prompts:
        got = obtain(given, name, ids, folder, vocab)
        line, good, error = compare(got, np.asarray(forward(ids))[-len(got):], given.tolerance)
        failed += not good
        worst = max(worst, error)
        print(f"{name:16} {line}{'' if good else '  FAILED'}", flush=True)
    print(f"{len(prompts)} prompts, worst relative L2 error {worst:.2e}, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    main()
