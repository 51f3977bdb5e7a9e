import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest'
import { type Network, startNetwork } from '../../src/devnet/network.js'
import { BUILT } from '../service/built.js'
import { startProcess } from '../service/process.js'

const EXAMPLE = /<!-- example -->\n```sh\n(.*?)```\n(?:\n```json\n(.*?)```)?/gs
const STREAM = /<!-- example: stream -->\n```(sh|js)\n(.*?)```\n/gs
const CLIENT = /<!-- example: client -->\n```js\n(.*?)```\n/gs
const readme = await readFile('README.md', 'utf8')
const examples = [...readme.matchAll(EXAMPLE)].map(([, command = '', answer]) => ({ command, answer }))
const streams = [...readme.matchAll(STREAM)].map(([, language = '', code = '']) => ({ language, code }))
const clients = [...readme.matchAll(CLIENT)].map(([, code = '']) => code)

let network: Network

beforeAll(async () => {
  network = await startNetwork({ environment: { LOG_LEVEL: 'silent' }, onError: () => {} })
})
afterAll(() => network?.close())

it('the README has examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(5)
  expect(streams.length).toBeGreaterThanOrEqual(3)
  expect(clients.length).toBeGreaterThanOrEqual(2)
})

it.each(examples)('works as pasted: $command', async ({ command, answer }) => {
  const here = command
    .replaceAll('http://localhost:3000', network.serviceUrl)
    .replaceAll('npx quote-aggregator', `node ${BUILT}/cli.js`)
  const { stdout } = await promisify(execFile)('bash', ['-c', here])
  const actual = JSON.parse(stdout)
  if (answer === undefined) expect(actual.quote.outputAmount).toBe('2498750000')
  else expect(shape(actual)).toEqual(shape(JSON.parse(answer)))
})

it.each(streams)('streams as pasted: $code', async ({ language, code }) => {
  const { host } = new URL(network.serviceUrl)
  const here = code.replaceAll('localhost:3000', host)
  const child =
    language === 'sh'
      ? startProcess('bash', ['-c', here], {}, { ownGroup: true })
      : startProcess(process.execPath, ['--input-type=module', '-e', here], {}, { ownGroup: true })
  await child.waitFor(/connected.*supportedChains.*31337.*cursor|cursor.*connected.*31337/s)
  process.kill(-(child.child.pid ?? 0), 'SIGKILL')
  await child.exited
})

it.each(clients)('runs as pasted: %s', async (code) => {
  const here = code
    .replaceAll('http://localhost:3000', network.serviceUrl)
    .replaceAll('http://localhost:8545', network.devnet.rpcUrl)
    .replaceAll('http://localhost:4001', network.solvers[0]?.endpointUrl ?? '')
  const child = startProcess(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', here], {})
  onTestFailed(() => void process.stderr.write(child.output()))
  await child.waitFor(/SETTLED\n$|^registered 0x/)
  expect(await child.exited).toBe(0)
})

/** The fields and their types; of a list, those of its first item. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shape(item)]))
}
