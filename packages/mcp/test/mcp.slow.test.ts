import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Address, parseUnits } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startServiceInProcess } from '../../../src/operator/demo/service-in-process.js'
import { eventually } from '../../../test/support/eventually.js'
import { BUILT } from '../../../test/support/process/built.js'
import { createDevnetClient, devAccounts, mined } from '../../cli/src/devnet/deploy.js'
import { type Network, startNetwork } from '../../cli/src/devnet/network.js'
import { LINES, type McpSession, startRelay, startSession, type ToolAnswer } from './mcp-session.js'

const TIMEOUT_MS = 180_000
const TOOLS = [
  'build_transaction',
  'explain_quote',
  'get_order',
  'get_price',
  'get_quote',
  'list_chains',
  'list_orders',
  'list_solvers',
  'list_tokens',
  'read_token',
  'verify_quote',
]

let network: Network
let instance: Awaited<ReturnType<typeof startRelay>>
let node: Awaited<ReturnType<typeof startRelay>>
let chainId: number
/** By client and arguments. */
const sessions = new Map<string, McpSession>()

beforeAll(async () => {
  network = await startNetwork({
    environment: { RATE_LIMIT_QUOTE: '100000', RATE_LIMIT_MAX: '100000', LOG_LEVEL: 'fatal' },
    servicePort: 0,
    onError: () => {},
    startService: (environment) => startServiceInProcess(environment, () => {}),
  })
  chainId = network.devnet.chainId
  instance = await startRelay(network.serviceUrl)
  node = await startRelay(network.devnet.rpcUrl)
}, TIMEOUT_MS)
afterEach(() => {
  instance.change = (_path, answer) => answer
  instance.refusal = undefined
})
afterAll(async () => {
  for (const session of sessions.values()) await session.close()
  await instance?.close()
  await node?.close()
  await network?.close()
})

const argsFor = (...more: string[]) => [
  '--url',
  instance.url,
  '--settlement',
  `${chainId}:${network.contracts.settlement}`,
  '--rpc-url',
  `${chainId}=${node.url}`,
  ...more,
]

/** The session of a server, which all tests with the same arguments share. */
async function openSession(line: (typeof LINES)[number] = 'client 2', args = argsFor()) {
  const key = [line, ...args].join(' ')
  const session = sessions.get(key) ?? (await startSession(line, args))
  sessions.set(key, session)
  return session
}

const swapOf = ({ contracts: { weth, usdc }, user }: Network) => ({
  chainId,
  inputToken: weth,
  outputToken: usdc,
  orderType: 'EXACT_INPUT',
  amount: parseUnits('1', 18).toString(),
  userAddress: user.address,
})

/**
 * An agent that knows only what the server tells, and does what the owner says: swap 1 WETH for at least 2,400 USDC.
 * @returns what build_transaction gave
 */
async function swapForOwner({ call }: McpSession): Promise<ToolAnswer> {
  const { chains } = (await call('list_chains')).value
  const chain = chains.find(({ trusted }: { trusted: boolean }) => trusted)
  const find = async (symbol: string) => {
    const { tokens } = (await call('list_tokens', { chainId: chain.chainId, query: symbol })).value
    const { address } = tokens.find(
      (token: { listed: boolean; symbol: string }) => token.listed && token.symbol === symbol,
    )
    return (await call('read_token', { chainId: chain.chainId, token: address })).value
  }
  const [weth, usdc] = [await find('WETH'), await find('USDC')]
  const maxInputAmount = parseUnits('1', weth.decimals).toString()
  const minOutputAmount = parseUnits('2400', usdc.decimals).toString()
  const asked = await call('get_quote', {
    ...swapOf(network),
    inputToken: weth.address,
    outputToken: usdc.address,
    amount: maxInputAmount,
  })
  if (asked.isError) return asked
  const { quote, solverSignature } = asked.value.best
  const offer = { chainId: chain.chainId, quote, solverSignature, maxInputAmount, minOutputAmount }
  const verified = await call('verify_quote', offer)
  const built = await call('build_transaction', offer)
  expect(verified.value.ok).toBe(!built.isError)
  return built
}

describe.each(LINES)('an agent with %s', (line) => {
  it('gets from the owner’s words to calls that settle', { timeout: TIMEOUT_MS }, async () => {
    const session = await openSession(line)
    const { value } = await swapForOwner(session)
    expect(value.calls).toHaveLength(2)
    const gets = expect.stringMatching(/^2[45]\d\d(\.\d+)?$/)
    expect(value.amounts).toEqual({ gives: '1', atMost: '1', gets, atLeast: '2400' })
    const wallet = createDevnetClient(network.devnet, network.user)
    for (const { to, data, value: wei } of value.calls)
      await mined(wallet, await wallet.sendTransaction({ to, data, value: BigInt(wei) }))
    const settled = await eventually(
      () => session.call('get_order', { chainId, orderId: value.orderId }),
      ({ value: { state } }) => state === 'SETTLED',
    )
    expect(settled.value.isTerminal).toBe(true)
    const listed = await session.call('list_orders', { chainId, user: network.user.address })
    expect(listed.value.orders[0]).toMatchObject({ orderId: value.orderId })
  })

  it('sees eleven tools that only read, the page, and what they are for', async () => {
    const { client } = await openSession(line)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS)
    for (const { annotations, outputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
      expect(outputSchema).toMatchObject({ type: 'object' })
    }
    expect(client.getInstructions()).toContain('only the owner does')
    const { contents } = await client.readResource({ uri: 'docs://quoting' })
    expect(contents).toMatchObject([{ mimeType: 'text/markdown' }])
    const { prompts, logging } = client.getServerCapabilities() ?? {}
    expect([prompts, logging]).toEqual([undefined, undefined])
  })

  it('gets prices, explanations and solvers', async () => {
    const { call } = await openSession(line)
    const { userAddress: _user, ...swap } = swapOf(network)
    expect((await call('get_price', swap)).value).toMatchObject({ binding: false, offers: 3 })
    const { quoteId, best, others } = (await call('get_quote', swapOf(network))).value
    expect(others).toHaveLength(2)
    expect(Object.keys(best)).toEqual(['quote', 'solverSignature', 'orderId'])
    const explained = (await call('explain_quote', { chainId, quoteId })).value
    expect(explained.outcome).toBe('QUOTED')
    expect(explained.solvers[0]).toMatchObject({ rank: 1, explanation: expect.stringMatching(/\w/) })
    expect((await call('list_solvers', { chainId })).value.solvers).toHaveLength(3)
  })
})

describe('an instance that lies gets no calls signed', () => {
  const lie = (change: (offer: { quote: Record<string, unknown>; solverSignature: string }) => unknown) => {
    instance.change = (path, answer) => {
      if (path.endsWith('/quote') && answer.quote) change(answer)
      return answer
    }
  }
  const problemsOf = ({ value }: ToolAnswer) => value.problems.map(({ code }: { code: string }) => code)

  it('about the amount', async () => {
    lie(({ quote }) => {
      quote.outputAmount = '9000000000'
    })
    const built = await swapForOwner(await openSession())
    expect(built.isError && problemsOf(built)).toEqual(['signature_mismatch'])
  })

  it.each(['inputToken', 'outputToken', 'user'])(
    'about the %s, with an offer of another swap',
    async (field) => {
      lie(({ quote }) => {
        quote[field] = network.contracts.bondToken
      })
      const { isError, value } = await swapForOwner(await openSession())
      const message = `The instance has offered another swap (${field}).`
      expect([isError, value]).toMatchObject([true, { code: 'ANSWER_INVALID', message }])
    },
  )

  it('about the decimals', async () => {
    instance.change = (path, answer) => {
      if (path.endsWith('/tokens'))
        for (const token of answer.tokens) if (token.symbol === 'USDC') token.decimals = 2
      return answer
    }
    // The server remembers the token.
    const built = await swapForOwner(await openSession('client 2', argsFor('--max-quotes', '1')))
    expect(built.isError && problemsOf(built)).toEqual(['decimals_wrong'])
  })

  it('about the settlement contract', async () => {
    const stranger: Address = '0x00000000000000000000000000000000DeaDBeef'
    const settlement = `${chainId}:${stranger}`
    const { call } = await openSession('client 2', argsFor('--settlement', settlement))
    const { value } = await call('list_chains')
    expect(value.chains).toMatchObject([{ trusted: false }])
    const { best } = (await call('get_quote', swapOf(network))).value
    const offer = { chainId, ...best, orderId: undefined, maxInputAmount: '1', minOutputAmount: '1' }
    for (const tool of ['verify_quote', 'build_transaction']) {
      const refused = await call(tool, offer)
      expect(refused).toMatchObject({ isError: true, value: { code: 'NODE_FAILED' } })
      expect(JSON.stringify(refused)).not.toContain('calls')
    }
  })
})

describe('what fails', () => {
  it('is an offer with limits in whole tokens, which protect nobody, or with a bad price', async () => {
    const { call } = await openSession()
    const { quote, solverSignature } = (await call('get_quote', swapOf(network))).value.best
    const limits = { maxInputAmount: quote.inputAmount, minOutputAmount: '2400' }
    const built = await call('build_transaction', { chainId, quote, solverSignature, ...limits })
    const problems = [{ code: 'limits_in_other_unit', message: expect.stringContaining('whole tokens') }]
    expect(built).toMatchObject({ isError: true, value: { problems, amounts: { atLeast: '0.0024' } } })
    expect(built.value.calls).toBe(undefined)
    const minOutputAmount = `${BigInt(quote.outputAmount) + 1n}`
    const dear = await call('build_transaction', {
      chainId,
      quote,
      solverSignature,
      ...limits,
      minOutputAmount,
    })
    expect(dear).toMatchObject({ isError: true, value: { problems: [{ code: 'price_too_bad' }] } })
    expect(dear.value.calls).toBe(undefined)
  })

  it('is a result with a code and a sentence', async () => {
    const { call } = await openSession()
    instance.refusal = { status: 429, body: { error: 'Too many.', code: 'RATE_LIMITED' } }
    expect(await call('list_chains')).toMatchObject({
      isError: true,
      value: { code: 'RATE_LIMITED', instanceSays: 'Too many.', retryAfterSeconds: 7 },
    })
    instance.refusal = undefined
    const unserved = { ...swapOf(network), chainId: 5 }
    expect(await call('get_quote', unserved)).toMatchObject({
      isError: true,
      value: { code: 'CHAIN_NOT_SUPPORTED' },
    })
    expect(await call('read_token', { chainId: 5, token: network.contracts.weth })).toMatchObject({
      isError: true,
      value: { code: 'NOT_NAMED' },
    })
  })

  it.each([
    ['an amount with a point', { amount: '1.5' }, 'must be a whole number, in decimal digits'],
    [
      'an address with a typing error',
      { userAddress: devAccounts[3].address.replace(/.$/, '0') },
      'checksum',
    ],
    ['an unknown field', { slippage: 1 }, 'slippage'],
  ])('is refused at the door: %s', async (_what, change, words) => {
    const { client } = await openSession()
    const input = { ...swapOf(network), ...change }
    const before = instance.seen.length
    const answer = await client
      .callTool({ name: 'get_quote', arguments: input })
      .catch((error: Error) => ({ isError: true, content: error.message }))
    expect(answer.isError).toBe(true)
    expect(JSON.stringify(answer.content)).toContain(words)
    expect(instance.seen.length).toBe(before)
  })

  it('is a quote beyond those that the owner allows in a minute', async () => {
    const { call } = await openSession('client 2', argsFor('--max-quotes', '2'))
    const answers = []
    for (let count = 0; count < 3; count++) answers.push(await call('get_quote', swapOf(network)))
    expect(answers.map(({ isError }) => isError)).toEqual([false, false, true])
    expect(answers[2]?.value).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) })
  })
})

it('without a node, nothing verifies or builds', async () => {
  const { client } = await openSession('client 2', ['--url', instance.url])
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names.sort()).toEqual(
    TOOLS.filter((name) => !['build_transaction', 'read_token', 'verify_quote'].includes(name)),
  )
})

it('no tool writes: the instance is only read, and the node is sent nothing', () => {
  const lines = instance.seen.map(({ line }) => line.replace(/\?.*|0x[0-9a-f]{64}|[0-9a-f-]{36}/gi, ''))
  expect([...new Set(lines.map((line) => line.replace(/\/\d+\//, '/n/')))].sort()).toEqual([
    'GET /v1/chains',
    'GET /v1/n/order/',
    'GET /v1/n/orders',
    'GET /v1/n/quote/',
    'GET /v1/n/solvers/stats',
    'GET /v1/n/tokens',
    'POST /v1/n/price',
    'POST /v1/n/quote',
  ])
  const methods = node.seen.flatMap(({ body }) =>
    [...body.matchAll(/"method":"(\w+)"/g)].map(([, name]) => name),
  )
  expect([...new Set(methods)].sort()).toEqual([
    'eth_blockNumber',
    'eth_call',
    'eth_chainId',
    'eth_getBlockByNumber',
    'eth_getCode',
  ])
})

it('standard output has lines of JSON-RPC only, with a dead instance and 100 calls at once', async () => {
  const args = ['mcp', '--url', 'http://127.0.0.1:1']
  const child = spawn(process.execPath, [`${BUILT}/cli.js`, ...args], { stdio: 'pipe' })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  send({ id: 0, method: 'initialize', params })
  send({ method: 'notifications/initialized' })
  for (let id = 1; id <= 100; id++)
    send({ id, method: 'tools/call', params: { name: 'list_chains', arguments: {} } })
  child.stdin.write('no JSON\n')
  await eventually(
    async () => output.split('\n').length - 1,
    (lines) => lines >= 101,
  )
  const messages = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
  const failed = messages.filter(({ result }) => result?.isError)
  expect(failed).toHaveLength(100)
  expect(failed[0].result.structuredContent.code).toBe('CONNECTION_FAILED')
  child.stdin.end()
  expect((await once(child, 'exit'))[0]).toBe(0)
})
