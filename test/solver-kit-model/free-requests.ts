import type { Rules } from '../support/chain/chain.js'
import { BASE_FEE, GAS, TIP } from '../support/model-chain/model-chain.js'
import type { Random } from '../support/random.js'
import type { KnownQuote } from './known-quotes.js'
import { startRunning } from './running-solver.js'
import { BOND, SETTLEMENT, SOLVER } from './world.js'

const HOUR_SECONDS = 3_600
/** Nearly a tenth of the bond. */
const LARGEST = 39_900

/**
 * Plays a history of requests that nobody ever pays in time: floods of dust and of large quotes, with all deadlines that the kit
 * takes. As soon as a fill deadline has passed, a stranger pays at the address of each quote whose nonce is unused.
 * @throws Error when that costs bond, or cancellations cost more than the hour allows
 */
export async function playFreeRequests(random: Random, rules: Rules, blocks: number): Promise<void> {
  const maxCancelFees = GAS * (BASE_FEE + TIP) * BigInt(random.pick([20, 60, 400]))
  const running = await startRunning(rules, { maxCancelFees })
  const { chain, ask, passBlocks, slash, isUnused, bond } = running
  const blockSeconds = random.pick([2, 4, 12])
  const costs: { readonly time: number; readonly wei: bigint }[] = []
  let quotes: KnownQuote[] = []

  async function flood(): Promise<void> {
    const isDust = random.integer(1, 3) > 1
    const wanted = {
      isPrice: random.integer(1, 10) === 1,
      isForAddress: random.integer(1, 3) === 1,
      depositSeconds: random.integer(3, random.pick([30, 300, 2_000])),
      fillSeconds: random.pick([60, 60, 120, 600]),
    }
    const count = random.integer(1, isDust ? 60 : 6)
    for (let asked = 0; asked < count; asked++) {
      const known = await ask(BigInt(isDust ? random.integer(1, 9) : random.integer(4_000, LARGEST)), wanted)
      if (known !== undefined) quotes.push(known)
    }
  }

  async function block(): Promise<void> {
    const now = chain.head().timestamp
    quotes = quotes.filter(isUnused)
    for (const known of quotes) if (now >= known.quote.fillDeadline) slash(known)
    // A slot may have no block.
    await passBlocks(1, random.integer(1, 30) === 1 ? 2 * blockSeconds : blockSeconds)
    if (bond() !== BOND) throw new Error(`free requests have cost ${BOND - bond()} of the bond`)
    const { receipts, timestamp: time } = chain.head()
    for (const { transaction } of receipts)
      if (transaction.from === SOLVER && transaction.to === SETTLEMENT)
        costs.push({ time, wei: GAS * (BASE_FEE + TIP) })
    const spent = costs
      .filter((cost) => cost.time > time - HOUR_SECONDS)
      .reduce((sum, { wei }) => sum + wei, 0n)
    // A cancellation counts from the time at which it is sent.
    if (spent > maxCancelFees) throw new Error(`cancellations have cost ${spent} of ${maxCancelFees}`)
  }

  await running.restartAfter(120, blockSeconds)
  for (let count = 0; count < blocks; count++) {
    if (random.integer(1, 8) === 1) await flood()
    await block()
  }
  while (quotes.length > 0) await block()
}
