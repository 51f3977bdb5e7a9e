import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it, onTestFailed } from 'vitest'
import { startNetwork } from '../../packages/cli/src/devnet/network.js'
import { playSale } from '../../packages/cli/src/devnet/scenario.js'
import { startServiceInProcess } from '../../src/operator/demo/service-in-process.js'
import { eventually } from '../support/eventually.js'
import { copySources } from '../support/packages/clone.js'
import { BUILT } from '../support/process/built.js'
import { startProcess } from '../support/process/process.js'
import { shared } from '../support/shared.js'
import { startSessionRun, troubles } from '../support/solvers/certify.js'
import { type CodeBlock, codeBlocks, withoutComments } from './code-blocks.js'
import { WITH_EXAMPLES } from './documents.js'

const blocks = WITH_EXAMPLES.flatMap((document) => codeBlocks(document))
const marked = (marker: string) => blocks.filter((block) => block.marker === marker)
const examples = marked('example')
const streams = marked('example: stream')
const clients = marked('example: client')
const quotes = marked('example: quotes')
const sessions = marked('example: session')
const swaps = marked('example: swap')

const clone = mkdtempSync(join(tmpdir(), 'clone-'))
copySources(clone)
afterAll(() => rmSync(clone, { recursive: true, force: true }))
const network = await shared(
  startNetwork({
    // The fill window is that of `npm run demo`.
    environment: { DEFAULT_FILL_WINDOW: '12', LOG_LEVEL: 'silent', RATE_LIMIT_SOLVERS: '0' },
    onError: () => {},
    startService: startServiceInProcess,
  }),
)
// There must be an order to list.
await playOrder()
// Counts of solvers are stored every few seconds.
await eventually(
  async () => {
    const response = await fetch(`${network.serviceUrl}/v1/31337/solvers/stats`)
    const { solvers } = (await response.json()) as { solvers: Record<string, unknown>[] }
    return solvers[0]
  },
  (stats) => stats?.fillRate === 1 && stats.medianResponseMs !== undefined,
)

/** Plays the first order of the demo. @returns what was printed */
async function playOrder(): Promise<string[]> {
  const lines: string[] = []
  await playSale(network, (line) => void lines.push(line))
  return lines
}

it('README.md has the command with which examples of the client run in a clone', () => {
  expect(readFileSync('README.md', 'utf8')).toContain(
    'save this as\n`swap.ts` in the clone, and run `npx tsx swap.ts`',
  )
})

it('the documents have examples of each kind', () => {
  expect(examples.length).toBeGreaterThanOrEqual(8)
  expect(streams.length).toBeGreaterThanOrEqual(4)
  expect(clients.length).toBeGreaterThanOrEqual(4)
  expect(quotes.length).toBeGreaterThanOrEqual(1)
  expect(sessions.length).toBeGreaterThanOrEqual(1)
  expect(swaps.length).toBeGreaterThanOrEqual(1)
})

it.each(examples)('the example at $document:$line works as copied: $code', async (block) => {
  const [program, ...args] = commandOf(block)
  const { stdout } = await promisify(execFile)(program, args)
  const actual = JSON.parse(stdout)
  if (block.answer === undefined) expect(actual.quote.outputAmount).toBe('2498750000')
  else expect(differences(JSON.parse(withoutComments(block.answer)), actual)).toEqual([])
})

it.each(streams)('the example at $document:$line streams as copied: $code', async (block) => {
  const [program, ...args] = commandOf(block)
  const child = startProcess(program, args, {}, { ownGroup: true })
  onTestFailed(() => void process.stderr.write(child.output()))
  const connected = /connected.*supportedChains.*31337.*cursor|cursor.*connected.*31337/s
  await child.waitFor(connected)
  expect(child.output()).toMatch(connected)
  process.kill(-(child.child.pid ?? 0), 'SIGKILL')
  await child.exited
})

it.each(quotes)('the example at $document:$line streams quotes as copied: $code', async (block) => {
  const [program, ...args] = commandOf(block)
  const { stdout } = await promisify(execFile)(program, args)
  const events = [...stdout.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, type, data = '']) => {
    return { type, ...JSON.parse(data) }
  })
  const [quote, done] = events.slice(-2)
  expect([quote.type, quote.quote.outputAmount, done.type]).toEqual(['quote', '2498750000', 'done'])
  expect(done.bestOrderId).toBe(quote.orderId)
})

it.each(swaps)('the example at $document:$line swaps as copied: $code', async (block) => {
  const [program, ...args] = commandOf(block)
  const { stdout } = await promisify(execFile)(program, args)
  expect(stdout).toMatch(/(DEPOSITED|SETTLED)\n$/)
})

it.each(clients)('the example at $document:$line runs as copied in a clone: $code', async (block) => {
  writeFileSync(join(clone, 'swap.ts'), here(block.code))
  // As README.md says.
  const child = startProcess('npx', ['tsx', 'swap.ts'], {}, { cwd: clone })
  onTestFailed(() => void process.stderr.write(child.output()))
  await child.waitFor(
    /SETTLED\n$|^registered 0x\w+ QUOTED|round 1 has ended with 0x\w+\n$|^best offer 0x\w+\n$/,
  )
  expect(await child.exited).toBe(0)
})

it.each(sessions)('the example at $document:$line quotes by a session as copied: $code', async (block) => {
  const [program, ...args] = commandOf(block)
  const child = startProcess(program, args, {}, { ownGroup: true })
  onTestFailed(() => void process.stderr.write(child.output()))
  await child.waitFor(/^ready [0-9a-f-]{36}$/m)
  const { weth: inputToken, usdc: outputToken } = network.contracts
  const { chainId } = network.devnet
  const swap = { inputToken, outputToken, userAddress: network.user.address, depositMode: 'CONTRACT' }
  const terms = { orderType: 'EXACT_INPUT', amount: String(10n ** 18n) }
  const response = await fetch(`${network.serviceUrl}/v1/${chainId}/quote`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...swap, ...terms, originChainId: chainId, destinationChainId: chainId }),
  })
  expect(response.status).toBe(200)
  await child.waitFor(/^result QUOTED$/m)
  // One with the kit also fills.
  if (block.code.includes('onFilled')) {
    expect(await playOrder()).toContainEqual(expect.stringMatching(/ 2499 USDC for 1 WETH {2}<- best$/))
    await child.waitFor(/^filled 0x\w{64}$/m)
  }
  process.kill(-(child.child.pid ?? 0), 'SIGKILL')
  await child.exited
})

it.each(sessions)(
  'the example at $document:$line passes certify, but for what it leaves out',
  async (block) => {
    const run = await startSessionRun(network)
    const [program, ...args] = commandOf(block)
    const here = args.map((text) => text.replaceAll(new URL(network.serviceUrl).host, new URL(run.url).host))
    const child = startProcess(program, here, {}, { ownGroup: true })
    onTestFailed(() => void process.stderr.write(child.output()))
    const { report } = await run.ended
    // An example without a back-off ends with its first connection.
    if (child.child.exitCode === null) process.kill(-(child.child.pid ?? 0), 'SIGKILL')
    await child.exited
    const failures = troubles(report).filter((text) => text.startsWith('fail'))
    expect(failures.filter((text) => !text.startsWith('fail go-away'))).toEqual([])
    expect(report.cases.length).toBeGreaterThan(25)
  },
  // Several cases take seconds, as they wait for what the solver must not do.
  60_000,
)

/** Runs the block as a process, with the addresses of this network. */
function commandOf({ language, code }: CodeBlock): [program: string, ...args: string[]] {
  if (language === 'sh') return ['bash', '-c', here(code)]
  return [process.execPath, '--import', 'tsx', '--input-type=module', '-e', here(code)]
}

function here(code: string): string {
  return code
    .replaceAll('localhost:3000', new URL(network.serviceUrl).host)
    .replaceAll('http://localhost:8545', network.devnet.rpcUrl)
    .replaceAll('http://localhost:4001', network.solvers[0]?.endpointUrl ?? '')
    .replaceAll('npx quote-aggregator', `node ${BUILT}/cli.js`)
}

/**
 * The places where the fields of a response or their types differ from the document. Of a list, only the
 * first item is compared.
 */
function differences(shown: unknown, actual: unknown, path = 'answer'): string[] {
  if (kindOf(shown) !== kindOf(actual)) return [`${path}: ${kindOf(actual)} and not ${kindOf(shown)}`]
  if (Array.isArray(shown) && Array.isArray(actual))
    return shown.length === 0 ? [] : differences(shown[0], actual[0], `${path}[0]`)
  if (kindOf(shown) !== 'object') return []
  const [left, right] = [shown as Record<string, unknown>, actual as Record<string, unknown>]
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].flatMap((name) => differences(left[name], right[name], `${path}.${name}`))
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  return value === null ? 'null' : typeof value
}
