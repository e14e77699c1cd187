"""Probes and symptoms of the dot product: the calls that the diagnosis makes."""

from attention_katas.authoring import ask, close, furthest, probe, symptom

AXES = {"q": "H T_q d_k", "k": "H T_k d_k"}


@probe("attention_scores")
def all_sizes_equal(draw):
    return ask(draw(4, 4, 4, 4), draw(4, 4, 4, 4), gradients=True)


@probe("attention_scores")
def all_sizes_different(draw):
    return draw(2, 3, 4, 6), draw(2, 3, 5, 6)


@probe("attention_scores")
def a_square_in_a_batch(draw):
    return draw(2, 5, 5), draw(2, 5, 5)


@probe("attention_scores")
def a_matrix(draw):
    return draw(5, 5), draw(5, 5)


@symptom("attention_scores")
def shape(f, draw):
    scores = f(draw(2, 4, 4), draw(2, 4, 4))
    if tuple(scores.shape) != (2, 4, 4):
        return f"for (2, 4, 4) and (2, 4, 4) the scores have the shape {tuple(scores.shape)}"


@symptom("attention_scores")
def keys_are_apart(f, draw):
    q, k = draw(4, 4), draw(4, 4)
    before = f(q, k)
    k = k.clone()
    k[1] += 1.0
    changed = (f(q, k) - before).abs().amax(0) > 1e-6
    wrong_keys = [j for j in range(4) if j != 1 and bool(changed[j])]
    if wrong_keys:
        return f"changing key 1 alone also changes the scores of key {wrong_keys[0]}"
    if not bool(changed[1]):
        return "changing key 1 does not change the scores of key 1"


@symptom("attention_scores")
def queries_are_apart(f, draw):
    q, k = draw(4, 4), draw(4, 4)
    before = f(q, k)
    q = q.clone()
    q[2] += 1.0
    changed = (f(q, k) - before).abs().amax(1) > 1e-6
    wrong_queries = [i for i in range(4) if i != 2 and bool(changed[i])]
    if wrong_queries:
        return f"changing query 2 alone also changes the scores of query {wrong_queries[0]}"


@symptom("attention_scores")
def length_counts(f, draw):
    q, k = draw(4, 4), draw(4, 4)
    once, twice = f(q, k), f(2 * q, k)
    if not close(twice, 2 * once):
        _index, actual, expected = furthest(twice, 2 * once)
        return f"doubling the queries should give the score {expected:.3g}, not {actual:.3g}"


@symptom("attention_scores")
def constant_factor(f, draw):
    q, k = draw(4, 4), draw(4, 4)
    ratio = f(q, k) / (q @ k.T)
    if bool((ratio - ratio.mean()).abs().max() < 1e-6) and abs(float(ratio.mean()) - 1) > 1e-6:
        return f"every score is {float(ratio.mean()):.4g} times the dot product"
