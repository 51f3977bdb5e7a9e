import { type Address, encodeEventTopics, erc20Abi, type Hex } from 'viem'
import { createRangeSize, readRange } from '../../../chain/src/block-ranges.js'
import { settlementOf } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { Filling } from '../orders/filling.js'
import { within } from '../waiting.js'
import type { ChainParts } from './chain-parts.js'
import { type Head, readHead } from './chain-time.js'
import { type BlockRange, MAX_RANGE, onFailed, readBalance, readLogs } from './contract.js'

/** More addresses make no filter that nodes accept. */
const MAX_FILTERED_ADDRESSES = 100
const MAX_DELAY_MS = 5_000

/**
 * Reads the deposits for a solver from each new block until the signal aborts: those at the contract by its event, and those at
 * deposit addresses by the transfers of tokens, and what was settled. After an error it goes on where it was. Blocks are passed on also while no logs can be
 * read: quotes must end by their time, and what the contract says of each decides how.
 * @param onBlock called when the chain has a new block, after its deposits unless the node does not show them; and now and then while
 * none comes
 * @returns when it has ended, after the signal has aborted
 */
export async function pollDeposits(
  parts: ChainParts,
  filling: Filling,
  onBlock: (head: Head) => Promise<void>,
): Promise<void> {
  const { chain, clock, time, signal, onError } = parts
  let failures = 0
  let passedOn: Hex | undefined
  let passedOnAt = 0
  const readers = [
    createReader(parts, `chain ${chain.chainId}`, (range) => readDeposits(parts, filling, range)),
    createReader(parts, `transfers ${chain.chainId}`, (range) => readTransfers(parts, filling, range)),
  ]

  async function poll(): Promise<void> {
    try {
      const from = clock.monotonic()
      const head = await readHead(chain)
      time.looked(clock.monotonic() - from)
      // One that is far from the last one may be of another chain: nothing is read up to it.
      if (head.hash !== passedOn && !time.see(head)) return
      const reads = readers.map((readTo) => readTo(head))
      await Promise.allSettled(reads)
      if (head.hash !== passedOn || clock.monotonic() - passedOnAt > time.quietSeconds() * 1_000) {
        await onBlock(head)
        passedOnAt = clock.monotonic()
      }
      passedOn = head.hash
      if (!(await Promise.all(reads)).includes(false)) time.answered()
      failures = 0
    } catch (error) {
      failures++
      if (!signal.aborted) onError(error)
    }
  }

  while (!signal.aborted) {
    await poll()
    const backoffMs = Math.min(chain.pollIntervalMs * 2 ** failures, MAX_DELAY_MS)
    await clock.sleep(Math.max(chain.pollIntervalMs, backoffMs), signal).catch(() => {})
  }
}

/**
 * Builds the reader of some logs. It goes on where it was, whatever becomes of others: a node may refuse some filters only.
 * @param name of its position
 * @param readLogsOf returns the number of logs
 * @returns reads the blocks up to a new head; false when that takes long, and goes on
 */
function createReader(
  { clock, signal, state, time }: ChainParts,
  name: string,
  readLogsOf: (range: BlockRange) => Promise<number>,
): (head: Head) => Promise<boolean> {
  const size = createRangeSize(MAX_RANGE)
  const read = (from: number, to: number) => readLogsOf({ from, to })
  let last: Hex | undefined
  let reading: Promise<void> | undefined

  async function readTo(head: Head): Promise<void> {
    if (head.hash === last) return
    const position = Number(state.position(name) ?? head.number)
    // What is refused from the start on is read later, too.
    state.setPosition(name, String(position))
    // A chain of a test may have begun again, below, and a node may lag far behind for a while.
    for (let from = Math.max(0, Math.min(position, head.number) - time.overlap()); from <= head.number; ) {
      const { to } = await readRange(size, { from, maxTo: head.number, read, logsIn: Number, onFailed })
      if (signal.aborted) return
      state.setPosition(name, String(Math.max(position, to)))
      from = to + 1
    }
    last = head.hash
  }

  return async (head) => {
    reading ??= readTo(head).finally(() => {
      reading = undefined
    })
    await within(clock, MAX_DELAY_MS, reading, () => {})
    return last === head.hash
  }
}

/** A block is read more than once, and so is what it has. */
async function readDeposits(
  { chain, solver }: ChainParts,
  { deposited, settled }: Filling,
  range: BlockRange,
): Promise<number> {
  const { settlement, chainId } = chain
  const { solverTopics, decodeLogs } = settlementOf(chainId)
  const logs = await readLogs(chain, range, [...solverTopics(solver)], settlement)
  for (const { event } of decodeLogs(chainId, logs).events) {
    const { orderId, transactionHash } = event
    if (event.solver !== solver) continue
    if (event.type === 'Settled') settled(orderId, transactionHash, event.blockNumber)
    else if (event.type === 'Deposited')
      deposited(orderId, event.fillDeadline, { transactionHash, quotedInput: event.inputAmount })
  }
  return logs.length
}

async function readTransfers(
  { chain, ledger, onError }: ChainParts,
  { deposited }: Filling,
  range: BlockRange,
): Promise<number> {
  let count = 0
  // A quote that is signed from here on is deposited in a later block.
  const addresses = ledger.addresses()
  const receivers = [...addresses.keys()]
  // They may be no longer traded.
  const tokens = [...new Set(ledger.quotes().map(({ quote }) => quote.inputToken))]
  const reads: Promise<void>[] = []
  while (receivers.length > 0) reads.push(readGroup(receivers.splice(0, MAX_FILTERED_ADDRESSES)))
  await Promise.all(reads)
  return count

  /** What it finds counts, also when the node refuses another one. */
  async function readGroup(to: Address[]) {
    const topics = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { to } })
    const logs = await readLogs(chain, range, topics, ...tokens)
    count += logs.length
    const found = new Map(
      logs.map((log): [Address, Hex] => [`0x${log.topics[2]?.slice(-40)}`, log.transactionHash]),
    )
    // A token that fails must not keep the others. Blocks are read again, and so is it.
    await Promise.all([...found].map((transfer) => look(...transfer).catch(onError)))
  }

  /** Transfers of nothing would make orders that hold up others. */
  async function look(to: Address, transactionHash: Hex): Promise<void> {
    const signed = addresses.get(to)
    if (signed === undefined) return
    const { quote, orderId } = signed
    const balance = await readBalance(chain, quote.inputToken, to)
    if (balance >= quote.inputAmount) deposited(orderId, quote.fillDeadline, { transactionHash })
  }
}
