import { type Address, erc20Abi, getAbiItem, type Hex } from 'viem'
import { lowerCase } from '../../../../src/domain/hex.js'
import { createRangeSize, isForSize, type RangeSize, readRange } from '../../../chain/src/block-ranges.js'
import { rpcErrorIn } from '../../../chain/src/rpc-error.js'
import { DEPOSITED } from '../../../protocol/src/deployed-settlement.js'
import { isNodeAnswer } from '../../../protocol/src/node-answer.js'
import type { ChainParts } from '../chain-parts.js'
import { within } from '../within.js'
import { type Head, readHead } from './chain-time.js'

interface DepositPollerOptions
  extends Pick<ChainParts, 'chain' | 'clock' | 'solver' | 'state' | 'time' | 'onError' | 'signal'> {
  /** The deposit addresses of quotes that may still be taken, in lower case. */
  readonly addresses: () => readonly Address[]
  /** Called for each deposit at the contract, and more than once for some. */
  readonly onDeposited: (orderId: Hex, fillDeadline: number, quotedInput: bigint) => void
  /** Called for each of the addresses that has got something, and more than once for some. */
  readonly onTransfer: (to: Address) => Promise<void>
  /** Called when the chain has a new block, after its deposits unless the node does not show them. */
  readonly onBlock: (head: Head) => Promise<void>
}

/** Blocks that are read at once, where the node allows so many. */
const MAX_RANGE = 1_000
/** More addresses make no filter that nodes accept. */
const MAX_FILTERED_ADDRESSES = 100
const MAX_DELAY_MS = 5_000
const TRANSFER = getAbiItem({ abi: erc20Abi, name: 'Transfer' })

/** Reads the deposits of a chain. */
export interface DepositPoller {
  /** Resolves when it has ended, after the signal has aborted. */
  readonly ended: Promise<void>
  /** Looks for a new block at once; not more often than it looks by itself, since strangers may cause it. */
  wake(): void
}

/**
 * Reads the deposits for a solver from each new block until the signal aborts: those at the contract by its event, and those at
 * deposit addresses by the transfers of tokens. After an error it goes on where it was. Blocks are passed on also while no logs can be
 * read: quotes must end by their time, and what the contract says of each decides how.
 */
export function pollDeposits(options: DepositPollerOptions): DepositPoller {
  const { chain, clock, time, signal, onBlock, onError } = options
  let failures = 0
  let passedOn: Hex | undefined
  let read: Hex | undefined
  let reading: Promise<void> | undefined
  let waiting = new AbortController()
  const size = createRangeSize(MAX_RANGE)

  async function readDeposits(head: Head): Promise<void> {
    if (head.hash !== read) await readTo(options, head, size)
    read = head.hash
  }

  async function poll(): Promise<void> {
    try {
      const head = await readHead(chain)
      reading ??= readDeposits(head).finally(() => {
        reading = undefined
      })
      const deposits = within(clock, MAX_DELAY_MS, reading)
      await deposits.catch(() => {})
      if (head.hash !== passedOn) await onBlock(head)
      passedOn = head.hash
      await deposits
      if (read === head.hash) time.answered()
      failures = 0
    } catch (error) {
      failures++
      if (!signal.aborted) onError(error)
    }
  }

  async function pollOn(): Promise<void> {
    // After a look that it was woken for, it waits for its time.
    for (let isWoken = false; !signal.aborted; isWoken = waiting.signal.aborted && !isWoken) {
      waiting = new AbortController()
      await poll()
      const backoffMs = Math.min(chain.pollIntervalMs * 2 ** failures, MAX_DELAY_MS)
      const delayMs = Math.max(chain.pollIntervalMs, backoffMs)
      await clock.sleep(delayMs, isWoken ? signal : waiting.signal).catch(() => {})
    }
  }

  signal.addEventListener('abort', () => waiting.abort(), { once: true })
  return { ended: pollOn(), wake: () => waiting.abort() }
}

/** Reads the blocks up to a new head. */
async function readTo(options: DepositPollerOptions, head: Head, size: RangeSize): Promise<void> {
  const { chain, signal, state } = options
  const name = `chain ${chain.chainId}`
  // A chain of a test may have begun again, below.
  const last = Math.min(Number(state.position(name) ?? head.number), head.number)
  // A quote that is signed from here on is deposited in a later block.
  const addresses = options.addresses()
  for (let from = Math.max(0, last - options.time.overlap()); from <= head.number; ) {
    const { to } = await readRange(size, {
      from,
      maxTo: head.number,
      read: (first, end) => readBlocks(options, addresses, first, end),
      logsIn: (logs) => logs,
      onFailed: isForSizeOf,
    })
    if (signal.aborted) return
    state.setPosition(name, String(Math.max(last, to)))
    from = to + 1
  }
}

/** As `isForSize`, also for the errors of a market maker's own transport. */
const isForSizeOf = (error: unknown) =>
  rpcErrorIn(error) === undefined ? isNodeAnswer(error) : isForSize(error)

/** @returns the number of logs */
async function readBlocks(
  { chain, solver, onDeposited, onTransfer, onError }: DepositPollerOptions,
  addresses: readonly Address[],
  from: number,
  to: number,
): Promise<number> {
  const { client, settlement, tokens } = chain
  const range = { fromBlock: BigInt(from), toBlock: BigInt(to), strict: true } as const
  const readTransfers = (to: Address[]) =>
    client.getLogs({ ...range, address: [...tokens.keys()], event: TRANSFER, args: { to } })
  const reads: ReturnType<typeof readTransfers>[] = []
  for (let index = 0; index < addresses.length; index += MAX_FILTERED_ADDRESSES)
    reads.push(readTransfers(addresses.slice(index, index + MAX_FILTERED_ADDRESSES)))
  const [deposits, ...transfers] = await Promise.all([
    client.getLogs({ ...range, address: settlement, event: DEPOSITED, args: { solver } }),
    ...reads,
  ])
  for (const { args } of deposits) onDeposited(args.orderId, args.fillDeadline, args.inputAmount)
  const receivers = new Set(transfers.flat().map(({ args }) => lowerCase(args.to)))
  // A token that fails must not keep the others. Blocks are read again, and so is it.
  await Promise.all([...receivers].map((to) => onTransfer(to).catch(onError)))
  return deposits.length + transfers.flat().length
}
