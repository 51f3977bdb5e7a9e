import { effect, signal } from '@preact/signals'
import type { DepositProgress } from '@quote-aggregator/client'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { ORDER_TYPES } from '../../../../protocol/src/quotes/quote.js'
import type { Offer } from '../../data/auction/auction.js'
import { isVisible } from '../../data/clock.js'
import {
  begunSwaps,
  changeSwap,
  isDepositBegun,
  isDepositSeen,
  type OwnSwap,
  ownSwap,
  rememberSwap,
  storedQuote,
  toStoredQuote,
} from '../../data/orders/own-swaps.js'
import { wallet } from '../../wallet/connected-wallet.js'
import { describeFailure, loadWallet, type WalletCode } from '../../wallet/load.js'
import type { WantedSwap } from '../../wallet/swap-calls.js'

type StepName = 'check' | 'approve' | 'deposit' | 'fill'

/** A step of a swap. */
export interface Step {
  readonly name: StepName
  /** Sent: its transaction is not mined yet. */
  readonly state: 'waiting' | 'active' | 'sent' | 'done' | 'failed'
  readonly detail: string
  /** When it has begun, or was done: Unix time in milliseconds. Undefined before its beginning. */
  readonly at: number | undefined
}

/** The offer that the user takes, and how far the swap has come. */
export interface TakenOffer {
  readonly chain: Chain
  readonly quoteId: string
  readonly offer: Offer
  readonly wanted: WantedSwap
  readonly steps: readonly Step[]
  /** Whether the wallet is asked, or has sent what is not mined. */
  readonly isBusy: boolean
  readonly problem: string
  /** Whether the problem is that the user has said no in the wallet: nothing has failed. */
  readonly isDeclined: boolean
}

/** Undefined while the user still chooses. It outlives the page: a deposit must not be lost by a look at the market. */
export const takenOffer = signal<TakenOffer | undefined>(undefined)

/** All that were taken since the page was loaded, by order id. A wallet may still be asked for one that the user has left. */
const taken = new Map<string, TakenOffer>()

type Choice = Pick<TakenOffer, 'chain' | 'quoteId' | 'offer' | 'wanted'>

/**
 * Takes an offer: by contract it is deposited at once, by address its deposit address is shown. An offer that is under way is shown
 * again: a second run would pay twice.
 */
export async function takeOffer(choice: Choice): Promise<void> {
  const { chain, offer, wanted } = choice
  const { orderId } = offer
  // For a moment after a change, the page may still have an offer of the request before it.
  if (!isWanted(offer, wanted)) return
  const isContract = wanted.mode === 'CONTRACT'
  const earlier = taken.get(orderId)
  const isFollowed = earlier?.isBusy || isDepositBegun(ownSwap(chain.chainId, orderId)) || !isContract
  if (earlier !== undefined && isFollowed) takenOffer.value = earlier
  // What is paid to an address comes back for the signed quote only.
  else if (remember(choice) || isContract) begin(choice)
  else return
  if (isContract) return sendFromWallet()
  if (earlier !== undefined) return
  if (wallet.peek() === undefined) showAddress(orderId)
  else await checkAddress()
}

/**
 * Shows the swap again whose deposit the wallet was asked for before the page was loaded: until it is seen, or too late, another swap could
 * be a second one.
 */
export function resumeSwap(chain: Chain): void {
  const isOpen = (swap: OwnSwap) => isDepositBegun(swap) && !isDepositSeen(swap) && !swap.isOver
  const swap = begunSwaps(chain.chainId).find((one) => isOpen(one) && !taken.has(one.orderId))
  const offer = swap && storedQuote(swap)
  if (takenOffer.peek() || !swap?.progress || !offer?.quote) return
  const { user, inputToken, outputToken, inputAmount, outputAmount, orderType, depositDeadline } = offer.quote
  if (depositDeadline * 1000 < Date.now()) return
  const isExactInput = ORDER_TYPES[orderType] === 'EXACT_INPUT'
  const amount = BigInt(isExactInput ? inputAmount : outputAmount)
  const mode = swap.isContract ? 'CONTRACT' : 'ADDRESS'
  const wanted = { user, inputToken, outputToken, isExactInput, amount, mode } as const
  begin({ chain, quoteId: swap.quoteId, offer, wanted })
  const { state, hash } = swap.progress
  reporterOf(swap.orderId)('deposit', state === 'sent' ? 'sent' : 'active', hash)
}

function isWanted({ quote }: Offer, wanted: WantedSwap): boolean {
  const fixed = wanted.isExactInput ? quote?.inputAmount : quote?.outputAmount
  const names = ['user', 'inputToken', 'outputToken'] as const
  const isSame = names.every((name) => quote?.[name].toLowerCase() === wanted[name].toLowerCase())
  return isSame && fixed === `${wanted.amount}`
}

/** @returns whether the browser keeps the swap */
function remember({ chain, offer, wanted, quoteId }: Choice): boolean {
  return rememberSwap({
    ...ownSwap(chain.chainId, offer.orderId),
    chainId: Number(chain.chainId),
    orderId: offer.orderId,
    quoteId,
    signedQuote: toStoredQuote(offer),
    isContract: wanted.mode === 'CONTRACT',
  })
}

function begin(choice: Choice): void {
  const isContract = choice.wanted.mode === 'CONTRACT'
  const names: StepName[] = isContract
    ? ['check', 'approve', 'deposit', 'fill']
    : ['check', 'deposit', 'fill']
  const steps = names.map((name): Step => ({ name, state: 'waiting', detail: '', at: undefined }))
  takenOffer.value = { ...choice, steps, isBusy: false, problem: '', isDeclined: false }
  taken.set(choice.offer.orderId, takenOffer.value)
}

/** Checks the deposit address of the offer through the connected wallet: it is shown once the check has passed. */
export async function checkAddress(): Promise<void> {
  const shown = takenOffer.peek()
  if (shown === undefined || shown.isBusy) return
  const { offer, wanted, chain } = shown
  const report = reporterOf(offer.orderId)
  await run(offer.orderId, async ({ verifyOffer, CHECKED }) => {
    report('check', 'active')
    await verifyOffer(offer, wanted, chain)
    report('check', 'done', CHECKED.ADDRESS)
    showAddress(offer.orderId)
  })
}

// A wallet that is connected checks the address. And an offer may have died while nobody saw the page: its address is hidden until then.
effect(() => {
  const shown = takenOffer.peek()
  const isPayable = shown?.wanted.mode === 'ADDRESS' && stateOf('deposit', shown) === 'active'
  // On another network, a check would ask the wallet to change it.
  const isHere = shown !== undefined && wallet.value?.chainId === Number(shown.chain.chainId)
  if (isVisible.value && isPayable && isHere) void checkAddress()
})

/** Tokens may be on their way from now on. */
function showAddress(orderId: string): void {
  reporterOf(orderId)('deposit', 'active')
  changeSwap(orderId, () => ({ isBegun: true }))
}

/** Checks the offer, and has the connected wallet deposit it. What the wallet may have sent before is followed. */
export async function sendFromWallet(): Promise<void> {
  const shown = takenOffer.peek()
  if (shown === undefined || shown.isBusy || stateOf('deposit', shown) === 'done') return
  const { offer, wanted, chain } = shown
  const { orderId } = offer
  const keep = (progress: DepositProgress) =>
    changeSwap(orderId, ({ isContract, isBegun }) => ({
      progress,
      isBegun: isDepositBegun({ progress }) || (!isContract && isBegun === true),
    }))
  const earlier = ownSwap(chain.chainId, orderId)?.progress
  await run(orderId, ({ deposit }) =>
    deposit({ offer, wanted, chain, earlier, report: reporterOf(orderId), keep }),
  )
}

/** Goes back to the choice among offers. The wallet is not asked for the steps that are left. */
export function leaveOffer(): void {
  takenOffer.value = undefined
}

/** The contract has the order: it waits for the solver. */
export function reportDeposit(orderId: string): void {
  const known = taken.get(orderId)
  // A check that was repeated has found the nonce used: by this very order.
  if (known && ['active', 'failed'].includes(`${stateOf('check', known)}`))
    reporterOf(orderId)('check', 'done')
  reporterOf(orderId)('deposit', 'done')
  change(orderId, (taken) => ({ ...taken, problem: '' }))
}

/** The order has ended. @param isDeposited whether that says that the deposit was there @param hash of its last transaction */
export function reportEnd(orderId: string, isDeposited: boolean, hash: string): void {
  if (isDeposited) reportDeposit(orderId)
  else change(orderId, (taken) => ({ ...taken, problem: '', steps: taken.steps.map(unseen) }))
  reporterOf(orderId)('fill', 'done', hash)
}

/** A deposit that nobody has seen is not waited for any more. */
const unseen = (step: Step): Step =>
  step.name === 'deposit' && step.state !== 'done' ? { ...step, state: 'waiting' } : step

async function run(orderId: string, task: (code: WalletCode) => Promise<void>): Promise<void> {
  change(orderId, (taken) => ({ ...taken, problem: '', isBusy: true }))
  try {
    await task(await loadWallet())
  } catch (error) {
    const problem = await describeFailure(error)
    const code = await loadWallet().catch(() => undefined)
    // The wallet can be asked again.
    if (code?.isFailure(error))
      changeSwap(orderId, ({ isContract, isBegun }) => ({
        progress: undefined,
        isBegun: !isContract && isBegun === true,
      }))
    const isRefused = code?.isRefusal(error) === true
    if (isRefused) changeSwap(orderId, () => ({ check: 'failed' }))
    change(orderId, (taken) => ({
      ...taken,
      problem,
      isDeclined: code?.isDeclined(error) === true,
      steps: taken.steps.map((step) => failed(step, taken, isRefused)),
    }))
    const known = taken.get(orderId)
    if (known && stateOf('deposit', known) === 'done') reportDeposit(orderId)
  }
  change(orderId, (taken) => ({ ...taken, isBusy: false }))
}

/** A deposit address still waits for tokens when the wallet has not sent them, and a deposit that may be sent is not a failed one. */
function failed(step: Step, { wanted, chain, offer }: TakenOffer, isRefused: boolean): Step {
  if (isRefused && step.name === 'check') return { ...step, state: 'failed' }
  if (step.state !== 'active' && step.state !== 'sent') return step
  const isBegun = isDepositBegun(ownSwap(chain.chainId, offer.orderId))
  const isOpen = step.name === 'deposit' && (wanted.mode === 'ADDRESS' || isBegun)
  return { ...step, state: isOpen ? 'active' : 'failed' }
}

/** Reports the steps of a swap. @throws when a step begins after the user has left the swap */
function reporterOf(orderId: string) {
  return (name: StepName, state: 'active' | 'sent' | 'done', detail = ''): void => {
    if (state === 'active' && takenOffer.peek()?.offer.orderId !== orderId)
      throw new Error('The user has left this swap.')
    if (name === 'check') changeSwap(orderId, () => ({ check: state === 'done' ? 'passed' : 'begun' }))
    change(orderId, (taken) => ({ ...taken, steps: withReport(taken.steps, name, state, detail) }))
  }
}

function withReport(steps: readonly Step[], name: StepName, state: Step['state'], detail: string): Step[] {
  const at = Date.now()
  return steps.map((step, index): Step => {
    const isNext = state === 'done' && steps[index - 1]?.name === name && name === 'deposit'
    if (isNext && step.state === 'waiting') return { ...step, state: 'active', at }
    // A check may be repeated. What is done otherwise stays so, whatever is reported late.
    if (step.name !== name || (step.state === 'done' && name !== 'check')) return step
    return { ...step, state, detail: detail || step.detail, at: state === 'done' ? at : (step.at ?? at) }
  })
}

export const stateOf = (name: StepName, { steps }: Pick<TakenOffer, 'steps'>) =>
  steps.find((step) => step.name === name)?.state

/** Changes a swap, also one that the user has left. */
function change(orderId: string, to: (offer: TakenOffer) => TakenOffer): void {
  const before = taken.get(orderId)
  if (before === undefined) return
  const after = to(before)
  taken.set(orderId, after)
  if (takenOffer.peek()?.offer.orderId === orderId) takenOffer.value = after
}
