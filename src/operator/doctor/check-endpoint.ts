import { ChainConfigError } from '../../../packages/chain/src/contract/chain-config-error.js'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import { formatDuration } from '../../../packages/cli/src/output/printable.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import {
  InconsistentAnswerError,
  type TimedHeader,
} from '../../../packages/protocol/src/node/parse-blocks.js'
import { TIMESTAMP_TOLERANCE_MS } from '../../../packages/protocol/src/solvers/solver.js'
import { verifyChainId } from '../../chain/contract/verify-endpoint.js'
import { type BlockReader, createBlockReader } from '../../chain/logs/block-reader.js'
import type { ChainConfig } from '../../config/config.js'
import { type CheckResult, createReport, type Report } from './check-result.js'

/** The check results of one JSON-RPC endpoint. */
export interface ExaminedEndpoint {
  readonly endpoint: Endpoint
  readonly reader: BlockReader
  readonly checkResults: readonly CheckResult[]
  /** Undefined when the endpoint cannot be used. */
  readonly head: TimedHeader | undefined
}

/** Address of the precompiled identity contract, which returns its input on every chain. */
const IDENTITY = `0x${'00'.repeat(19)}04` as const
const RECEIPTS_REMEDY = 'Events that the node omits are found late or never. Use an endpoint with receipts.'
const OLD_HEAD_MS = 5 * 60_000
const OLD_REMEDY =
  "The node may be stuck or syncing, or this machine's clock late. It is normal for a local chain that mines on demand."
const EARLY_REMEDY =
  "Set the machine's clock, by NTP for example: the service rejects registrations of solvers whose clock is right."

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
  const variable = `RPC_URL_${config.chainId}`
  const report = createReport(config.rpcUrls.length > 1 ? `${variable} URL ${index + 1}` : variable)
  const reader = createBlockReader(endpoint.client, config, {
    clock: systemClock,
    knownSolvers: async () => new Map(),
  })
  const unusable = { endpoint, reader, checkResults: report.list, head: undefined }

  if (!(await checkChainId(config, endpoint, report))) return unusable
  if (!endpoint.takesBatches()) {
    const remedy = `Reading past events takes up to 50 times as many requests. Use an endpoint with batches in ${variable}.`
    report.warn('batches', 'does not accept JSON-RPC batches: each call is a separate request', remedy)
  }
  const head = await reader.head().catch((error) => {
    report.fail('head', `could not be read: ${wordsOf(error)}`, `Use another endpoint in ${variable}.`)
    return undefined
  })
  if (head === undefined) return unusable
  checkHead(head, report)
  await checkCalls(config, endpoint, head, report)
  await checkNextBlock(reader, head, lastBlock, report)
  return { ...unusable, head }
}

/** Compares the time of a head, which is never in the future, with the machine's clock. */
function checkHead({ number, timestampMs }: TimedHeader, { fail, judge }: Report): void {
  const ageMs = Date.now() - timestampMs
  const found = `block ${number}, ${formatDuration(Math.abs(ageMs))} ${ageMs < 0 ? 'ahead of the clock' : 'old'}`
  if (ageMs < -TIMESTAMP_TOLERANCE_MS) fail('head', found, EARLY_REMEDY)
  else judge('head', ageMs <= OLD_HEAD_MS, found, OLD_REMEDY)
}

/** @returns whether the endpoint answers, and serves the right chain */
async function checkChainId(
  { chainId }: ChainConfig,
  { client, host }: Endpoint,
  { ok, fail }: Report,
): Promise<boolean> {
  const start = performance.now()
  try {
    // Two calls in one turn of the event loop are sent as one batch.
    await Promise.all([verifyChainId(client, chainId), client.getBlockNumber({ cacheTime: 0 })])
    ok('reachable', `${host} answers in ${formatDuration(performance.now() - start)}`)
    ok('chain id', String(chainId))
    return true
  } catch (error) {
    const remedy = `Correct RPC_URL_${chainId}: is the URL right, is its key valid, and does the node run?`
    const wrong = `Use an endpoint of chain ${chainId} in RPC_URL_${chainId}, or correct SUPPORTED_CHAINS.`
    if (error instanceof ChainConfigError) fail('chain id', error.message, wrong)
    else fail('reachable', `${host} does not answer: ${wordsOf(error)}`, remedy)
    return false
  }
}

async function checkCalls(
  { settlement: address }: ChainConfig,
  { client }: Endpoint,
  head: TimedHeader,
  { ok, warn, fail, judge }: Report,
): Promise<void> {
  const call = [{ to: IDENTITY, data: '0x' }, { blockHash: head.hash }] as const
  const filter = { address, blockHash: head.hash }
  const [logs, echo, receipts] = await Promise.allSettled([
    client.request({ method: 'eth_getLogs', params: [filter] }),
    client.request({ method: 'eth_call', params: call }),
    client.request({ method: 'eth_getBlockReceipts', params: [head.hash] } as never),
  ])
  const byHash = 'by block hash'
  const failure = ({ reason }: PromiseRejectedResult) => `fails ${byHash}: ${wordsOf(reason)}`
  if (logs.status === 'fulfilled') ok('eth_getLogs', byHash)
  else fail('eth_getLogs', failure(logs), 'Without this call the service reads no events.')
  if (echo.status === 'fulfilled') ok('eth_call', byHash)
  else warn('eth_call', failure(echo), 'Order reads still work, but each of them calls the node.')
  const hasReceipts = receipts.status === 'fulfilled' && Array.isArray(receipts.value)
  const found = hasReceipts ? 'proves that no event of a block is missing' : 'returns no receipts'
  judge('eth_getBlockReceipts', hasReceipts, found, RECEIPTS_REMEDY)
}

/** Reads the block that the service reads next, or the head, as the service does. */
async function checkNextBlock(
  reader: BlockReader,
  head: TimedHeader,
  lastBlock: number | undefined,
  { ok, fail }: Report,
): Promise<void> {
  const number = Math.min(head.number, (lastBlock ?? head.number) + 1)
  try {
    await reader.blocks([await reader.header(number)])
    ok('block', `the events of block ${number} can be read`)
  } catch (error) {
    const member = error instanceof InconsistentAnswerError && error.member ? ` at ${error.member}` : ''
    const remedy =
      'No later event is published before it can be read. Use another endpoint, or report it to the provider.'
    fail('block', `block ${number} cannot be read${member}: ${wordsOf(error)}`, remedy)
  }
}
