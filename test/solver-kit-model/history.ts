import { NO_USER } from '../../packages/protocol/src/quotes/quote.js'
import type { Address } from '../../packages/protocol/src/values/hex.js'
import type { Rules } from '../support/chain/chain.js'
import type { Random } from '../support/random.js'
import { PRICE, WETH_UNIT } from '../support/solver-kit/fixed-price.js'
import { createWatch } from './invariants.js'
import { askSolver, type KnownQuote } from './known-quotes.js'
import { makeLie, noLies } from './lying-node.js'
import {
  CHAIN_ID,
  createWorld,
  FEE_TOKEN,
  type Incarnation,
  SETTLEMENT,
  SOLVER,
  STRANGER,
  settlementCall,
  tokenCall,
  USDC,
  USERS,
  WETH,
} from './world.js'

/** The calls of deployed contracts that give tokens at an address back, with a token of each. */
const RECOVERIES: Readonly<Record<string, Address>> = { deployAndRecover: USDC, recoverFromProxy: WETH }

const REFERENCE_ATTACKS = ['settle', 'refund', 'refundAddressDeposit', 'refundAddressDeposit'] as const
const ATTACKS: Record<Rules, readonly [string, ...string[]]> = {
  reference: REFERENCE_ATTACKS,
  deployed: [...REFERENCE_ATTACKS, 'deployAndRecover', 'recoverFromProxy'],
}

/** What goes wrong, the more often the more it is named. */
const TROUBLES = ['kill', 'kill', 'node', 'held', 'tip', 'clock', 'pool', 'cancel', 'lies', 'lies'] as const

/** A history of a solver that anybody may attack. Each step is a line of its log. */
export type History = ReturnType<typeof createHistory>

/** Builds a history that has not begun. */
export function createHistory(random: Random, rules: Rules) {
  const world = createWorld(rules)
  const { clock, chain } = world
  const watch = createWatch(world)
  const lines: string[] = []
  let incarnation: Incarnation | undefined
  let isNodeDown = false
  let heldBlocks = 0
  let isTipHigh = false
  let lies = noLies()
  /** Until then the node lies of what there is. */
  let lyingBlocks = 0
  /** Requests go to the limits of the bond. */
  const isGreedy = random.integer(1, 3) === 1

  const chainTime = () => chain.head().timestamp
  const chance = (percent: number) => random.integer(1, 100) <= percent
  const note = (line: string) => void lines.push(`block ${chain.head().number}, ${chainTime()}: ${line}`)
  const nameOf = ({ orderId }: KnownQuote) => orderId.slice(0, 10)

  /** A quote that was signed, rather a new one. */
  function anyQuote(): KnownQuote | undefined {
    const { quotes } = watch
    return quotes[Math.max(0, quotes.length - random.integer(1, 12))]
  }

  async function request(): Promise<void> {
    if (incarnation === undefined) return
    const isOdd = chance(25)
    const depositDeadline =
      chainTime() +
      (isOdd
        ? random.pick([-100, 0, 1, 5, 7200, 2 ** 31])
        : random.integer(isGreedy ? 100 : 8, isGreedy ? 240 : 120))
    const fillDeadline =
      depositDeadline + (isOdd ? random.pick([-1, 0, 1, 30, 7200, 2 ** 32]) : random.integer(60, 200))
    const isIndicative = chance(isOdd ? 30 : 5)
    const depositMode = random.pick(['CONTRACT', 'CONTRACT', 'ADDRESS', undefined])
    const inputToken = random.pick([WETH, WETH, WETH, WETH, WETH, FEE_TOKEN])
    const orderType = random.pick(['EXACT_INPUT', 'EXACT_OUTPUT'])
    const user = isIndicative && chance(50) ? NO_USER : random.pick(USERS)
    const wanted = isGreedy ? random.integer(15, 50) : random.integer(1, random.pick([3, 40, 400]))
    const asked = {
      inputToken,
      orderType,
      amount: BigInt(wanted) * (orderType === 'EXACT_INPUT' ? WETH_UNIT : PRICE),
      user,
      depositMode,
      depositDeadline: Math.max(0, depositDeadline),
      fillDeadline: Math.max(0, fillDeadline),
    }
    const { known, answer } = await askSolver(world, incarnation, asked, isIndicative)
    const terms = `${isIndicative ? 'a price' : 'a quote'} of ${Object.values(asked).join(' ')}`
    if (known === undefined) return note(`asks ${terms}: ${JSON.stringify(answer)}`)
    note(`asks ${terms}: signed ${nameOf(known)}`)
    watch.signed(known)
    // An attacker asks for what could never be honest, and takes it at once.
    if (isOdd && chance(50)) transfer(known, STRANGER, 'full')
  }

  function transfer(known: KnownQuote, from: Address, part: 'full' | 'more' | 'most' | 'half'): void {
    const { inputAmount } = known.quote
    const amounts = {
      full: inputAmount,
      more: inputAmount + 7n,
      most: (inputAmount * 95n) / 100n,
      half: inputAmount / 2n,
    }
    note(`${from.slice(0, 6)} sends ${part} of the input to the address of ${nameOf(known)}`)
    chain.act(
      from,
      known.quote.inputToken.toLowerCase() as Address,
      tokenCall('transfer', [known.depositAddress, amounts[part]]),
    )
  }

  function attack(known: KnownQuote): void {
    const call = random.pick(ATTACKS[rules])
    const isLate = chainTime() > known.quote.fillDeadline
    if (call === 'refundAddressDeposit' && isLate && chance(60)) transfer(known, STRANGER, 'full')
    note(`a stranger calls ${call} of ${nameOf(known)}`)
    const recovered = RECOVERIES[call]
    const signed = [known.quote, known.signature, ...(recovered === undefined ? [] : [recovered])]
    chain.act(STRANGER, SETTLEMENT, settlementCall(call, call === 'refund' ? [known.orderId] : signed))
  }

  function deposit(known: KnownQuote): void {
    const user = known.quote.user.toLowerCase() as Address
    const from = user !== NO_USER && chance(80) ? user : STRANGER
    note(`${from.slice(0, 6)} deposits for ${nameOf(known)}`)
    chain.act(from, SETTLEMENT, settlementCall('deposit', [known.quote, known.signature]))
  }

  function stop(): void {
    if (incarnation === undefined) return
    note('kill -9')
    world.kill(incarnation)
    incarnation = undefined
  }

  /** Starts a process where none runs, as a supervisor does. */
  async function start(): Promise<void> {
    if (incarnation?.progress === 'failed') stop()
    if (incarnation !== undefined) return
    note('start')
    incarnation = world.start()
    makeLie(incarnation.node, chain, random, () => lies)
    if (isNodeDown) incarnation.node.setState('down')
    // The start loads a library, which takes time of the machine.
    await incarnation.node.asked
  }

  function trouble(): void {
    const kind = random.pick(TROUBLES)
    if (kind === 'kill') stop()
    if (kind === 'lies') beginToLie()
    if (kind === 'held') heldBlocks = random.integer(1, 8)
    if (kind === 'node') {
      isNodeDown = true
      incarnation?.node.setState('down')
    }
    if (kind === 'tip') {
      isTipHigh = !isTipHigh
      chain.setMinTip(isTipHigh ? 2_500_000_000n : 0n)
    }
    if (kind === 'clock') clock.set((chainTime() + random.pick([0, 0, -30, 40, -7200, 7200])) * 1000)
    if (kind === 'pool') chain.dropPool()
    if (kind === 'cancel' && incarnation?.progress === 'started') {
      const all = chance(50)
      incarnation.solver.cancelQuotes(CHAIN_ID, () => all || chance(50)).catch(() => {})
    }
    if (kind !== 'kill') note(`trouble: ${kind}`)
  }

  /** What is refused lasts, and what is not so passes. */
  function beginToLie(): void {
    lyingBlocks = random.integer(2, 8)
    lies = {
      lateLogs: random.integer(0, 4),
      lagging: { percent: random.pick([0, 30, 100]), blocks: random.integer(1, 12) },
      failing: random.pick([0, 5, 30]),
      range: random.pick([1, 10, 100]),
      broadcast: random.pick(['right', 'refused', 'taken with an error']),
      hasOddWords: chance(50),
    }
  }

  /** Transactions of removed blocks come again in other ones, later or never. */
  function reorganise(): void {
    const depth = Math.min(chain.head().number, random.pick([random.integer(1, 3), random.integer(1, 30)]))
    if (depth === 0) return
    const isLossy = chance(30)
    const fate = ({ from }: { from: Address }) => {
      if (isLossy && chance(from === SOLVER ? 50 : 30)) return 'lost' as const
      return chance(60) ? random.integer(0, depth) : ('waiting' as const)
    }
    const { removed, added } = chain.reorganise(depth, chainTime() + 2, fate)
    note(
      `trouble: ${depth} blocks are replaced, as ${removed.flatMap(({ receipts }) => receipts).length} by ${added.flatMap(({ receipts }) => receipts).length} transactions`,
    )
    watch.reorganised(removed, added)
  }

  async function calm(): Promise<void> {
    if (incarnation?.progress !== 'started' && chance(40)) await start()
    if (isNodeDown && chance(40)) {
      isNodeDown = false
      incarnation?.node.setState('up')
      note('the node answers again')
    }
  }

  async function block(): Promise<void> {
    const seconds = random.integer(2, 6)
    await clock.advance(seconds * 500)
    const isAble = incarnation?.progress === 'started' && !isNodeDown && heldBlocks === 0 && lyingBlocks === 0
    const mined = chain.mine(chainTime() + seconds, { signedFirst: chance(50), holdsSigned: heldBlocks > 0 })
    heldBlocks = Math.max(0, heldBlocks - 1)
    lyingBlocks = Math.max(0, lyingBlocks - 1)
    if (lyingBlocks === 0) lies = { ...noLies(), range: lies.range, hasOddWords: lies.hasOddWords }
    for (const { transaction, revert } of mined.receipts)
      if (transaction.from !== STRANGER || revert === undefined)
        note(
          `mined from ${transaction.from.slice(0, 6)} ${transaction.data.slice(0, 10)} ${revert?.message ?? 'success'}`,
        )
    watch.mined(mined, isAble)
    await clock.advance(seconds * 500)
  }

  return {
    lines,
    watch,
    world,
    errors: () => incarnation?.errors ?? [],
    /** Plays some blocks with requests, deposits, attacks and faults. */
    async play(blocks: number): Promise<void> {
      await start()
      for (let count = 0; count < blocks; count++) {
        if (chance(60)) await request()
        const someParts = ['full', 'full', 'more', 'most', 'half'] as const
        const acts: readonly (readonly [percent: number, act: (known: KnownQuote) => void])[] = [
          [isGreedy ? 8 : 30, deposit],
          [15, (known) => transfer(known, random.pick(USERS), random.pick(someParts))],
          [15, attack],
        ]
        for (const [percent, act] of acts) {
          const known = anyQuote()
          if (known !== undefined && chance(percent)) act(known)
        }
        if (chance(6)) trouble()
        if (chance(4)) reorganise()
        await calm()
        await block()
      }
    },
    /** Plays on without faults and requests until every quote must have ended. */
    async calmDown(blocks: number): Promise<void> {
      isNodeDown = false
      incarnation?.node.setState('up')
      heldBlocks = 0
      lyingBlocks = 0
      chain.setMinTip(0n)
      clock.set(chainTime() * 1000)
      await start()
      note('calm from here on')
      for (let count = 0; count < blocks; count++) {
        const known = anyQuote()
        if (known !== undefined && chance(30)) attack(known)
        if (incarnation?.progress === 'failed') await start()
        await block()
      }
      watch.ended()
      watch.checkBooks()
    },
    close: stop,
  }
}
