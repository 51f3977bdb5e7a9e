import { type BlockReader, createBlockReader } from '../../chain/block-reader.js'
import type { TimedHeader } from '../../chain/headers.js'
import type { Endpoint } from '../../chain/rpc-client.js'
import { summary } from '../../chain/rpc-error.js'
import type { ChainConfig } from '../../config.js'
import { formatDuration } from '../printable.js'
import { type CheckResult, type CheckResults, collectResults } from './check-result.js'

/** What is known of one JSON-RPC endpoint. */
export interface ExaminedEndpoint {
  /** The variable, and the place in its list where there are several. */
  readonly name: string
  readonly endpoint: Endpoint
  readonly reader: BlockReader
  readonly checkResults: readonly CheckResult[]
  /** Undefined where the endpoint cannot be used. */
  readonly head: TimedHeader | undefined
  /** How far the head's time lies before this machine's clock when it was read, in milliseconds. */
  readonly headAgeMs: number
}

/** Answers what it is sent, on every chain: the precompiled contract for the identity. */
const IDENTITY = `0x${'00'.repeat(19)}04` as const
const SLOW_MS = 1000
const SLOW_REMEDY =
  'After a start the chain is down until it is read, for several times as long. Take an endpoint that is nearer or less busy.'
const OLD_HEAD_MS = 5 * 60_000

/**
 * Asks an endpoint for everything that the service will ask it for.
 * @param index its place among the chain's endpoints
 */
export async function examineEndpoint(
  config: ChainConfig,
  endpoint: Endpoint,
  index: number,
): Promise<ExaminedEndpoint> {
  const url = new URL(config.rpcUrls[index] ?? '')
  const place = config.rpcUrls.length > 1 ? ` URL ${index + 1}` : ''
  const name = `RPC_URL_${config.chainId}${place}`
  const checkResults = collectResults(name)
  const reader = createBlockReader(endpoint.client, config.chainId, config.settlement)
  const unusable = { name, endpoint, reader, checkResults: checkResults.list, head: undefined, headAgeMs: 0 }

  if (!(await checkChainId(config, endpoint, url, checkResults))) return unusable
  if (!endpoint.takesBatches()) {
    const remedy = `Reading past events takes up to 50 times as many requests: take one with batches into ${nameOf(config)}.`
    checkResults.warn('batches', 'takes no JSON-RPC batches: each call is a request of its own', remedy)
  }
  const head = await reader.head().catch((error) => {
    checkResults.fail(
      'head',
      `is not told: ${summary(error)}`,
      `Take another endpoint into ${nameOf(config)}.`,
    )
    return undefined
  })
  if (head === undefined) return unusable
  const headAgeMs = Date.now() - head.timestampMs
  noteHead(head, headAgeMs, checkResults)
  await checkCalls(config, endpoint, head, checkResults)
  return { ...unusable, head, headAgeMs }
}

/** @returns whether it answers, and for the right chain */
async function checkChainId(
  config: ChainConfig,
  { client, takesBatches }: Endpoint,
  url: URL,
  checkResults: CheckResults,
): Promise<boolean> {
  const { chainId } = config
  const start = performance.now()
  try {
    // Two calls of one turn go out as one batch.
    const [answer] = await Promise.all([client.getChainId(), client.getBlockNumber({ cacheTime: 0 })])
    const took = performance.now() - start
    const answers = `${url.host} answers ${takesBatches() ? 'batches' : 'single calls'} in ${formatDuration(took)}`
    if (took < SLOW_MS) checkResults.ok('reachable', answers)
    else checkResults.warn('reachable', answers, SLOW_REMEDY)
    if (answer === chainId) {
      checkResults.ok('chain id', String(chainId))
      return true
    }
    const remedy = `Take an endpoint of chain ${chainId} into ${nameOf(config)}, or serve ${answer} in SUPPORTED_CHAINS.`
    checkResults.fail('chain id', `answers for chain ${answer}, and not for ${chainId}`, remedy)
  } catch (error) {
    const reason = summary(error).replace(/^Error: /, '')
    const remedy = `Correct ${nameOf(config)}: is the URL right, the key in it valid, the node running?`
    checkResults.fail('reachable', `${url.host} does not answer: ${reason}`, remedy)
  }
  return false
}

function noteHead(head: TimedHeader, ageMs: number, checkResults: CheckResults): void {
  const text = `block ${head.number}, ${formatDuration(Math.abs(ageMs))} ${ageMs < 0 ? 'ahead of the clock' : 'old'}`
  const remedy = 'The node may be stuck or still syncing; a local chain that mines on demand may have it so.'
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
    const remedy = `Without it no event is read: take another endpoint into ${nameOf(config)}.`
    checkResults.fail('eth_getLogs', `not by block hash (EIP-234): ${summary(logs.reason)}`, remedy)
  }
  if (echo.status === 'fulfilled') checkResults.ok('eth_call', 'by block hash (EIP-1898)')
  else {
    const remedy = 'Orders work all the same, but each read asks the node.'
    checkResults.warn('eth_call', `not by block hash (EIP-1898): ${summary(echo.reason)}`, remedy)
  }
  if (receipts.status === 'fulfilled' && Array.isArray(receipts.value))
    checkResults.ok('eth_getBlockReceipts', 'proves that no event of a block is missing')
  else {
    const remedy = `Events that it leaves out are found late or not at all: take one that has receipts into ${nameOf(config)}.`
    checkResults.warn('eth_getBlockReceipts', 'gives no receipts', remedy)
  }
}

function nameOf({ chainId }: ChainConfig): string {
  return `RPC_URL_${chainId}`
}
