import { inspect } from 'node:util'
import { createClient, custom, http, numberToHex } from 'viem'
import { describe, expect, it, test } from 'vitest'
import { sendJson, serve } from '../../../client/test/server.js'
import { isNodeAnswer } from '../../src/node/node-answer.js'
import { findView, readView } from '../../src/node/read-view.js'
import { type Request, simulate } from '../../src/node/simulate.js'
import { bondReservationBps, minOrder } from '../../src/settlement/deployed-settlement.js'

const CONTRACT = '0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD'
const PANIC = '0x4e487b710000000000000000000000000000000000000000000000000000000000000011'
const REVERT = { code: 3, message: 'execution reverted', data: '0x' }
const FIVE_PERCENT = { result: numberToHex(500n, { size: 32 }) }
const NOTHING = { result: '0x' }
const KEY = 'secret-key-of-the-node'
/** A contract's code. */
const CODE = '0x6000'

/** An answer of JSON-RPC: a result, or an error. */
type Reply = { readonly result: unknown } | { readonly error: unknown }

/** What a node answers to each method, one after the other, and the last one from then on. */
interface Answers {
  readonly replies: readonly Reply[]
  readonly codes?: readonly unknown[]
}

/** A node that answers `eth_call` and `eth_getCode` as a test says. Its head rises by one with each call. */
function createNode({ replies, codes = [CODE] }: Answers) {
  const calls: { readonly method: string; readonly params: readonly unknown[] }[] = []
  let head = 100

  /** In JSON-RPC form. */
  function reply(method: string, params: readonly unknown[] = []): Reply {
    calls.push({ method, params })
    if (method === 'eth_blockNumber') return { result: numberToHex(head++) }
    const count = calls.filter((call) => call.method === method).length
    const answers = method === 'eth_getCode' ? codes.map((result) => ({ result })) : replies
    return answers[Math.min(count, answers.length) - 1] as Reply
  }

  return {
    calls,
    reply,
    /** As EIP-1193 has it. @throws the error of the reply as it is */
    async request({ method, params }: { method: string; params?: readonly unknown[] }) {
      const answer = reply(method, params)
      if ('error' in answer) throw answer.error
      return answer.result
    },
  }
}

type Node = ReturnType<typeof createNode>

/** The ways by which an answer reaches the judge. */
const WAYS: readonly [string, (node: Node) => Promise<Request>][] = [
  ['a JSON-RPC client that throws the error of the answer', async (node) => (args) => node.request(args)],
  [
    "a wallet's provider behind viem",
    async (node) => createClient({ transport: custom(node, { retryCount: 0 }) }).request,
  ],
  [
    'a provider that throws Errors, behind viem',
    async (node) => {
      const request: Request = (args) =>
        node.request(args).catch((error) => {
          throw Object.assign(new Error(error.message), error)
        })
      return createClient({ transport: custom({ request }, { retryCount: 0 }) }).request
    },
  ],
  [
    "viem's HTTP",
    async (node) => {
      const { url } = await serve(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString())
        sendJson(response, 200, { jsonrpc: '2.0', id, ...node.reply(method, params) })
      })
      return createClient({ transport: http(`${url}/v2/${KEY}?key=${KEY}`, { retryCount: 0 }) }).request
    },
  ],
]

/** Errors of a node that report a revert. */
const REVERTS: readonly [string, object][] = [
  ['code 3 with data', { code: 3, message: 'execution reverted', data: PANIC }],
  ['code 3 with empty data', REVERT],
  ['code 3 without data', { code: 3, message: 'execution reverted' }],
  ['code 3 with other words', { code: 3, message: 'VM error' }],
  ['Besu, with the code of a bad input', { code: -32000, message: 'Execution reverted', data: '0x' }],
  ['geth before 1.9.15', { code: -32000, message: 'execution reverted' }],
  ['Nethermind', { code: -32015, message: 'VM execution error.', data: 'Reverted 0x' }],
  ['Frontier', { code: -32603, message: 'VM Exception while processing transaction: revert', data: '0x' }],
  [
    'Hardhat',
    {
      code: -32603,
      message: "Error: Transaction reverted: function selector was not recognized and there's no fallback",
      data: { message: 'Error: Transaction reverted', data: '0x' },
    },
  ],
  [
    'Ganache',
    {
      code: -32000,
      message: 'VM Exception while processing transaction: revert',
      data: { hash: '0x01', result: PANIC, reason: 'x' },
    },
  ],
  ['-32603 with the data of an error', { code: -32603, message: 'Internal error', data: PANIC }],
  ['MetaMask, around code 3', { code: -32603, message: 'Internal JSON-RPC error.', data: REVERT }],
  [
    'MetaMask, around another provider',
    {
      code: -32603,
      message: 'Internal JSON-RPC error.',
      data: { originalError: { ...REVERT, data: PANIC } },
    },
  ],
]

/** Errors of a node that say nothing of the contract, with a word that must be in the error. */
const FAILURES: readonly [string, object, string][] = [
  ['-32603', { code: -32603, message: 'Internal error' }, 'Internal error'],
  [
    '-32603 with the words of a revert',
    { code: -32603, message: 'execution reverted' },
    'execution reverted',
  ],
  ['-32603 with empty data', { code: -32603, message: 'Internal error', data: '0x' }, 'Internal error'],
  ['-32603 with a text', { code: -32603, message: 'no', data: 'upstream timed out' }, 'no'],
  [
    'a provider in a page, around a failure',
    {
      code: -32603,
      message: 'Internal JSON-RPC error.',
      data: { code: -32000, message: 'missing trie node' },
    },
    'missing trie node',
  ],
  [
    'a provider that repeats the call',
    {
      code: -32603,
      message: 'upstream failed',
      data: { to: CONTRACT, data: bondReservationBps().data },
    },
    'upstream failed',
  ],
  ['an unknown block', { code: -32000, message: 'header not found' }, 'header not found'],
  ['no gas', { code: -32000, message: 'out of gas' }, 'out of gas'],
  ['a limit', { code: -32005, message: 'rate exceeded', data: { see: 'https://node.example' } }, 'rate'],
  ['a limit of another provider', { code: 429, message: 'Too Many Requests' }, 'Too Many'],
  ['a bad instruction', { code: -32015, message: 'VM execution error.', data: 'Bad instruction' }, 'VM'],
  ['an unknown method', { code: -32601, message: 'the method is not available' }, 'not available'],
  ['a text that mentions a revert', { code: -32000, message: 'cannot tell if it reverted' }, 'cannot'],
]

const find = (request: Request) => findView(request, CONTRACT, bondReservationBps())

describe.each(WAYS)('through %s', (_way, connect) => {
  const readBy = async (options: Answers) => find(await connect(createNode(options)))

  test.each(REVERTS)('the view is absent after a revert: %s', async (_name, error) => {
    expect(await readBy({ replies: [{ error }] })).toBeUndefined()
  })

  test.each(FAILURES)('the read fails with the words of the node: %s', async (_name, error, words) => {
    const failure = await readBy({ replies: [{ error }] }).catch((thrown) => thrown)
    expect(failure).toMatchObject({ name: 'ChainReadError', failure: 'failed' })
    expect(isNodeAnswer(failure)).toBe(true)
    expect(failure.message).toMatch(/^BOND_RESERVATION_BPS could not be read: /)
    expect(failure.message).toContain(words)
    expect(failure.cause).toBeUndefined()
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 500],
    ['a page', '<html>busy</html>'],
    ['a decimal text', '500'],
    ['half a byte', '0x123'],
    ['a short word', '0x01f4'],
    ['an object', {}],
  ])('an answer of another shape is a failure: %s', async (_name, result) => {
    await expect(readBy({ replies: [{ result }] })).rejects.toMatchObject({ failure: 'failed' })
  })

  test('a value is returned, from one request', async () => {
    const node = createNode({ replies: [FIVE_PERCENT] })
    expect(await find(await connect(node))).toBe(500n)
    const { data } = bondReservationBps()
    expect(node.calls).toEqual([
      { method: 'eth_call', params: [{ to: CONTRACT.toLowerCase(), data }, 'latest'] },
    ])
  })

  test.each(['0x', '', '0x0'])('%j is no data: absent where the contract has code, twice', async (result) => {
    const node = createNode({ replies: [{ result }] })
    expect(await find(await connect(node))).toBeUndefined()
    const blocks = node.calls.filter(({ method }) => method === 'eth_getCode').map(({ params }) => params[1])
    expect(blocks).toEqual(['0x64', '0x65'])
    const called = node.calls.filter(({ method }) => method === 'eth_call').map(({ params }) => params[1])
    expect(called).toEqual(['latest', ...blocks])
  })

  test.each<[string, readonly Reply[]]>([
    ['once', [NOTHING, FIVE_PERCENT]],
    ['twice', [NOTHING, NOTHING, FIVE_PERCENT]],
  ])('a node that returned no data %s, and then a value, has the value', async (_times, replies) => {
    expect(await readBy({ replies })).toBe(500n)
  })

  test('no data, and then a failure, is a failure', async () => {
    const replies = [NOTHING, { error: { code: -32603, message: 'busy' } }]
    await expect(readBy({ replies })).rejects.toMatchObject({ failure: 'failed' })
  })

  test('a contract without code is named as such, and now and then without code as a failure', async () => {
    await expect(readBy({ replies: [NOTHING], codes: ['0x'] })).rejects.toMatchObject({
      failure: 'no code',
      message: expect.stringContaining(`${CONTRACT.toLowerCase()} has no code`),
    })
    await expect(readBy({ replies: [NOTHING], codes: ['0x', CODE] })).rejects.toMatchObject({
      failure: 'failed',
    })
    await expect(readBy({ replies: [NOTHING], codes: [null] })).rejects.toMatchObject({ failure: 'failed' })
  })
})

describe('what a request rejects with other than an error of a node is a failure without an answer', () => {
  it.each<[string, unknown]>([
    ['a lost connection', new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })],
    ['an error with the words of a revert and no code', new Error('execution reverted')],
    ['an abort', new DOMException('aborted', 'AbortError')],
    ['a provider that is not connected', { code: 4900, message: 'disconnected' }],
    ['a text', 'execution reverted'],
    ['undefined', undefined],
    ['null', null],
    ['an event', { type: 'error' }],
  ])('%s', async (_name, thrown) => {
    const failure = await find(() => Promise.reject(thrown)).catch((error) => error)
    expect(failure).toMatchObject({ name: 'ChainReadError', failure: 'failed' })
    expect(isNodeAnswer(failure)).toBe(false)
  })
})

it('an error has no path, query or credentials of a URL', async () => {
  const { url } = await serve((request, response) => {
    response.writeHead(500).end(`no ${request.url} at http://user:${KEY}@node.example/${KEY}`)
  })
  const client = createClient({ transport: http(`${url}/v2/${KEY}?key=${KEY}`, { retryCount: 0 }) })
  const failure = await find(client.request).catch((thrown) => thrown)
  expect(failure).toMatchObject({ failure: 'failed' })
  expect(failure.message).toContain('node.example')
  const shown = inspect(failure, { depth: 20, showHidden: true })
  expect(shown + JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain(KEY)
})

it('a view that a contract must have is an error where it is absent', async () => {
  const node = createNode({ replies: [{ error: REVERT }] })
  await expect(readView((args) => node.request(args), CONTRACT, minOrder())).rejects.toMatchObject({
    failure: 'absent',
    message: `${CONTRACT} has no MIN_ORDER`,
  })
})

it('a block that is named is the block of all requests', async () => {
  const at = { blockHash: `0x${'ab'.repeat(32)}` } as const
  const node = createNode({ replies: [NOTHING] })
  expect(await findView((args) => node.request(args), CONTRACT, minOrder(), at)).toBeUndefined()
  expect(node.calls.map(({ params }) => params.at(-1))).toEqual(node.calls.map(() => at))
})

it('a simulated call returns what it returns, nothing where it has succeeded twice, and undefined after a revert', async () => {
  const call = { to: CONTRACT, data: '0x12345678', from: CONTRACT } as const
  const simulateBy = (replies: readonly Reply[]) => {
    const node = createNode({ replies })
    return simulate((args) => node.request(args), call, 'cancelNonces')
  }
  expect(await simulateBy([NOTHING])).toBe('0x')
  expect(await simulateBy([NOTHING, { error: REVERT }])).toBeUndefined()
  expect(await simulateBy([{ error: REVERT }])).toBeUndefined()
  expect(await simulateBy([{ result: '0x01' }])).toBe('0x01')
})
