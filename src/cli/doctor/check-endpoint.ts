import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import { wordsOf } from '../../../packages/protocol/src/node-words.js'
import { InconsistentAnswerError, type TimedHeader } from '../../../packages/protocol/src/parse-blocks.js'
import { type BlockReader, createBlockReader } from '../../chain/logs/block-reader.js'
import type { ChainConfig } from '../../config/config.js'
import { formatDuration } from '../printable.js'
import { type CheckResult, type CheckResults, collectResults } from './check-result.js'

/** The check results of one JSON-RPC endpoint. */
export interface ExaminedEndpoint {
  /** The variable. If it has several URLs, also the number of this one. */
  readonly name: string
  readonly endpoint: Endpoint
  readonly reader: BlockReader
  readonly checkResults: readonly CheckResult[]
  /** Undefined when the endpoint cannot be used. */
  readonly head: TimedHeader | undefined
  /** Age of the head by this machine's clock at the read, in milliseconds. */
  readonly headAgeMs: number
}

/** Address of the precompiled identity contract, which returns its input on every chain. */
const IDENTITY = `0x${'00'.repeat(19)}04` as const
const SLOW_MS = 1000
const SLOW_REMEDY =
  'After a start the chain is down until the service has read it, which takes several such calls. Use an endpoint that is nearer or less busy.'
const OLD_HEAD_MS = 5 * 60_000

/**
 * Checks an endpoint with every kind of call that the service makes.
 * @param index position of the endpoint in the list of the chain, from 0
 * @param lastBlock the last block whose events are published; undefined when none is known
 */
export async function examineEndpoint(
  config: ChainConfig,
  endpoint: Endpoint,
  index: number,
  lastBlock: number | undefined,
): Promise<ExaminedEndpoint> {
  const url = new URL(config.rpcUrls[index] ?? '')
  const place = config.rpcUrls.length > 1 ? ` URL ${index + 1}` : ''
  const name = `RPC_URL_${config.chainId}${place}`
  const checkResults = collectResults(name)
  const reader = createBlockReader(endpoint.client, config.chainId, config.settlement, {
    knownSolvers: async () => new Map(),
  })
  const unusable = { name, endpoint, reader, checkResults: checkResults.list, head: undefined, headAgeMs: 0 }

  if (!(await checkChainId(config, endpoint, url, checkResults))) return unusable
  if (!endpoint.takesBatches()) {
    const remedy = `Reading past events takes up to 50 times as many requests. Use an endpoint with batches in ${nameOf(config)}.`
    checkResults.warn('batches', 'does not accept JSON-RPC batches: each call is a separate request', remedy)
  }
  const head = await reader.head().catch((error) => {
    checkResults.fail(
      'head',
      `could not be read: ${wordsOf(error)}`,
      `Use another endpoint in ${nameOf(config)}.`,
    )
    return undefined
  })
  if (head === undefined) return unusable
  const headAgeMs = Date.now() - head.timestampMs
  noteHead(head, headAgeMs, checkResults)
  await checkCalls(config, endpoint, head, checkResults)
  await checkNextBlock(reader, head, lastBlock, checkResults)
  return { ...unusable, head, headAgeMs }
}

/** @returns whether the endpoint answers, and serves the right chain */
async function checkChainId(
  config: ChainConfig,
  { client, takesBatches }: Endpoint,
  url: URL,
  checkResults: CheckResults,
): Promise<boolean> {
  const { chainId } = config
  const start = performance.now()
  try {
    // Two calls in one turn of the event loop are sent as one batch.
    const [answer] = await Promise.all([client.getChainId(), client.getBlockNumber({ cacheTime: 0 })])
    const took = performance.now() - start
    const answers = `${url.host} answers ${takesBatches() ? 'batches' : 'single calls'} in ${formatDuration(took)}`
    if (took < SLOW_MS) checkResults.ok('reachable', answers)
    else checkResults.warn('reachable', answers, SLOW_REMEDY)
    if (answer === chainId) {
      checkResults.ok('chain id', String(chainId))
      return true
    }
    const remedy = `Use an endpoint of chain ${chainId} in ${nameOf(config)}, or serve ${answer} in SUPPORTED_CHAINS.`
    checkResults.fail('chain id', `answers for chain ${answer}, and not for ${chainId}`, remedy)
  } catch (error) {
    const reason = wordsOf(error)
    const remedy = `Correct ${nameOf(config)}: is the URL right, is its key valid, and does the node run?`
    checkResults.fail('reachable', `${url.host} does not answer: ${reason}`, remedy)
  }
  return false
}

function noteHead(head: TimedHeader, ageMs: number, checkResults: CheckResults): void {
  const text = `block ${head.number}, ${formatDuration(Math.abs(ageMs))} ${ageMs < 0 ? 'ahead of the clock' : 'old'}`
  const remedy =
    'The node may be stuck, or it may still be syncing. An old head is normal for a local chain that mines on demand.'
  if (ageMs > OLD_HEAD_MS) checkResults.warn('head', text, remedy)
  else checkResults.ok('head', text)
}

async function checkCalls(
  config: ChainConfig,
  { client }: Endpoint,
  head: TimedHeader,
  checkResults: CheckResults,
): Promise<void> {
  const call = [{ to: IDENTITY, data: '0x' }, { blockHash: head.hash }] as const
  const filter = { address: config.settlement, blockHash: head.hash }
  const [logs, echo, receipts] = await Promise.allSettled([
    client.request({ method: 'eth_getLogs', params: [filter] }),
    client.request({ method: 'eth_call', params: call }),
    client.request({ method: 'eth_getBlockReceipts', params: [head.hash] } as never),
  ])
  if (logs.status === 'fulfilled') checkResults.ok('eth_getLogs', 'by block hash (EIP-234)')
  else {
    const remedy = `Without this call the service reads no events. Use another endpoint in ${nameOf(config)}.`
    checkResults.fail('eth_getLogs', `fails by block hash (EIP-234): ${wordsOf(logs.reason)}`, remedy)
  }
  if (echo.status === 'fulfilled') checkResults.ok('eth_call', 'by block hash (EIP-1898)')
  else {
    const remedy = 'Order reads still work, but each of them calls the node.'
    checkResults.warn('eth_call', `fails by block hash (EIP-1898): ${wordsOf(echo.reason)}`, remedy)
  }
  if (receipts.status === 'fulfilled' && Array.isArray(receipts.value))
    checkResults.ok('eth_getBlockReceipts', 'proves that no event of a block is missing')
  else {
    const remedy = `Events that the node omits are found late or never. Use an endpoint with receipts in ${nameOf(config)}.`
    checkResults.warn('eth_getBlockReceipts', 'returns no receipts', remedy)
  }
}

/** Reads the block that the service reads next, or the head, as the service does. */
async function checkNextBlock(
  reader: BlockReader,
  head: TimedHeader,
  lastBlock: number | undefined,
  checkResults: CheckResults,
): Promise<void> {
  const number = Math.min(head.number, (lastBlock ?? head.number) + 1)
  try {
    await reader.blocks([await reader.header(number)])
    checkResults.ok('block', `the events of block ${number} can be read`)
  } catch (error) {
    const member = error instanceof InconsistentAnswerError && error.member ? ` at ${error.member}` : ''
    const remedy =
      'No later event is published before it can be read. Use another endpoint, or report it to the provider.'
    checkResults.fail('block', `block ${number} cannot be read${member}: ${wordsOf(error)}`, remedy)
  }
}

function nameOf({ chainId }: ChainConfig): string {
  return `RPC_URL_${chainId}`
}
