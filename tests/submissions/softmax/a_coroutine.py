# outcome: broken
# says: softmax is an async function
async def softmax(x, dim=-1):
    return x
