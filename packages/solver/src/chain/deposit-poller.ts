import type { Address, Hex } from 'viem'
import { lowerCase } from '../../../../src/domain/hex.js'
import type { ChainParts } from '../chain-parts.js'
import { type Head, readHead } from './chain-time.js'
import { DEPOSITED, TRANSFER } from './settlement-abi.js'

interface DepositPollerOptions
  extends Pick<ChainParts, 'chain' | 'clock' | 'solver' | 'state' | 'time' | 'onError' | 'signal'> {
  /** The deposit addresses of quotes that may still be taken, in lower case. */
  readonly addresses: () => readonly Address[]
  /** Called for each deposit at the contract, and more than once for some. */
  readonly onDeposited: (orderId: Hex, fillDeadline: number, quotedInput: bigint) => void
  /** Called for each of the addresses that has got something, and more than once for some. */
  readonly onTransfer: (to: Address) => Promise<void>
  /** Called when the chain has a new block, after its deposits. */
  readonly onBlock: (head: Head) => Promise<void>
}

/** Nodes refuse long ranges. */
const MAX_RANGE = 1_000
/** Blocks that are read again, since a reorganisation may have replaced them. */
const OVERLAP = 12
/** More addresses make no filter that nodes accept. */
const MAX_FILTERED_ADDRESSES = 100
const MAX_DELAY_MS = 5_000

/**
 * Reads the deposits for a solver from each new block until the signal aborts: those at the contract by its event, and those at
 * deposit addresses by the transfers of tokens. After an error it goes on where it was.
 * @returns when it has ended
 */
export async function pollDeposits(options: DepositPollerOptions): Promise<void> {
  const { chain, clock, time, signal, onError } = options
  let failures = 0
  let seen: Hex | undefined
  while (!signal.aborted) {
    try {
      const head = await readHead(chain)
      if (head.hash !== seen) await readTo(options, head)
      seen = head.hash
      time.answered()
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      failures++
      onError(error)
    }
    const delayMs =
      failures === 0 ? chain.pollIntervalMs : Math.min(chain.pollIntervalMs * 2 ** failures, MAX_DELAY_MS)
    await clock.sleep(delayMs, signal).catch(() => {})
  }
}

/** Reads the blocks up to a new head. */
async function readTo(options: DepositPollerOptions, newest: Head): Promise<void> {
  const { chain, signal, state } = options
  const { number: head } = newest
  const name = `chain ${chain.chainId}`
  const known = Number(state.position(name) ?? head)
  // A quote that is signed from here on is deposited in a later block.
  const addresses = options.addresses()
  // A chain of a test may have begun again, below.
  for (let from = Math.max(0, Math.min(known, head) + 1 - OVERLAP); from <= head; from += MAX_RANGE) {
    const to = Math.min(from + MAX_RANGE - 1, head)
    await readBlocks(options, addresses, from, to)
    if (signal.aborted) return
    state.setPosition(name, String(to))
  }
  await options.onBlock(newest)
}

async function readBlocks(
  { chain, solver, onDeposited, onTransfer, onError }: DepositPollerOptions,
  addresses: readonly Address[],
  from: number,
  to: number,
): Promise<void> {
  const { client, settlement, tokens } = chain
  const range = { fromBlock: BigInt(from), toBlock: BigInt(to), strict: true } as const
  const filtered = addresses.length <= MAX_FILTERED_ADDRESSES ? { args: { to: [...addresses] } } : {}
  const [deposits, transfers] = await Promise.all([
    client.getLogs({ ...range, address: settlement, event: DEPOSITED, args: { solver } }),
    addresses.length === 0
      ? []
      : client.getLogs({ ...range, address: [...tokens.keys()], event: TRANSFER, ...filtered }),
  ])
  for (const { args } of deposits) onDeposited(args.orderId, args.fillDeadline, args.inputAmount)
  const wanted = new Set(addresses)
  const receivers = new Set(transfers.map(({ args }) => lowerCase(args.to)))
  // A token that fails must not keep the others. Blocks are read again, and so is it.
  const reads = [...receivers]
    .filter((receiver) => wanted.has(receiver))
    .map((to) => onTransfer(to).catch(onError))
  await Promise.all(reads)
}
