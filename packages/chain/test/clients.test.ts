import { expect, it, onTestFinished } from 'vitest'
import { createRpcClient } from '../src/rpc-client.js'
import { type Asked, echo, type HttpAnswer, sendJson, startHttpNode } from './nodes.js'

async function start(...answers: (HttpAnswer | undefined)[]) {
  const nodes = await Promise.all(answers.map((answer) => startHttpNode(answer)))
  const rpc = createRpcClient(nodes.map(({ url }) => url))
  onTestFinished(rpc.close)
  return { nodes, rpc, sizes: () => nodes.map((node) => node.sizes().length) }
}

const withError =
  (error: object): HttpAnswer =>
  (response, asked) =>
    sendJson(response, { id: (asked as Asked).id, error })
const broken: HttpAnswer = (response) => response.writeHead(502).end()

it.each<[string, HttpAnswer]>([
  ['is broken', broken],
  ['has another error', withError({ code: -32603, message: 'Internal error' })],
  ['limits rates', (response) => response.writeHead(429).end()],
  ['sends no JSON', (response) => response.end('<html>')],
])('the next endpoint is called when one %s', async (_how, answer) => {
  const { rpc, sizes } = await start(answer, undefined, undefined)
  expect(await rpc.request('eth_call', [1])).toEqual(['eth_call', 1])
  expect(sizes()).toEqual([1, 1, 0])
})

it('an endpoint that gave no answer is called after the others, and one that has answered is not', async () => {
  const silent = await start(broken, undefined)
  const answering = await start(withError({ code: -32000, message: 'header not found' }), undefined)
  for (const { rpc } of [silent, answering])
    for (let calls = 0; calls < 3; calls++) await rpc.request('eth_call', [1])
  expect([silent.sizes(), answering.sizes()]).toEqual([
    [1, 3],
    [3, 3],
  ])
})

it('a revert is an answer, also for viem', async () => {
  const { rpc, sizes } = await start(
    withError({ code: 3, message: 'execution reverted', data: '0x01' }),
    undefined,
  )
  await expect(rpc.request('eth_call')).rejects.toMatchObject({ code: 3, data: '0x01' })
  const to = `0x${'0a'.repeat(20)}` as const
  const error = await rpc.client.call({ to, data: '0x' }).catch((reason) => reason)
  expect(error.walk((cause: unknown) => (cause as { data?: unknown }).data === '0x01')).not.toBeNull()
  expect(sizes()).toEqual([2, 0])
})

it('an error that a node has answered counts more than none', async () => {
  const answered = withError({ code: -32000, message: 'header not found' })
  for (const answers of [
    [answered, broken],
    [broken, answered],
  ]) {
    const { rpc } = await start(...answers)
    await expect(rpc.request('eth_call')).rejects.toMatchObject({
      kind: 'answered',
      message: 'header not found',
    })
  }
})

it('a contract leads viem to no URL of its own', async () => {
  const other = await startHttpNode()
  // OffchainLookup(address, string[], bytes, bytes4, bytes) of ERC-3668.
  const data = `0x556f1830${'00'.repeat(500)}${Buffer.from(other.url).toString('hex')}`
  const { rpc } = await start(withError({ code: 3, message: 'execution reverted', data }))
  await expect(rpc.client.call({ to: `0x${'0a'.repeat(20)}`, data: '0x' })).rejects.toThrow()
  expect([rpc.client.ccipRead, other.sizes()]).toEqual([false, []])
})

it('a client that is closed fails no call of another client to the same node', async () => {
  const node = await startHttpNode()
  const [closed, open] = [createRpcClient([node.url]), createRpcClient([node.url])]
  onTestFinished(open.close)
  const failed = closed.request('eth_call')
  const answered = open.request('eth_call')
  closed.close()
  await expect(failed).rejects.toThrow('the client is closed')
  expect(await answered).toEqual(['eth_call'])
})

it('the calls of viem in one turn go in one batch', async () => {
  const { nodes, rpc } = await start((response, asked) =>
    sendJson(
      response,
      (asked as Asked[]).map((one) => ({ ...echo(one), result: '0x1' })),
    ),
  )
  expect(await Promise.all([rpc.client.getChainId(), rpc.client.getBlockNumber()])).toEqual([1, 1n])
  expect(nodes[0]?.sizes()).toEqual([2])
})
