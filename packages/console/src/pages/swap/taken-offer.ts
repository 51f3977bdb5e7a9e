import { signal } from '@preact/signals'
import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import type { Offer } from '../../data/auction.js'
import { rememberSwap, toStoredQuote } from '../../data/own-swaps.js'
import { loadWallet } from '../../wallet/load.js'
import { wallet } from '../../wallet/state.js'
import type { Wish } from '../../wallet/swap-calls.js'

export type StepName = 'check' | 'approve' | 'deposit' | 'fill'

/** A step of a swap. */
export interface Step {
  readonly name: StepName
  readonly state: 'waiting' | 'active' | 'done' | 'failed'
  readonly detail: string
  /** Unix time in milliseconds; undefined before its beginning, or its end. */
  readonly startedAt: number | undefined
  readonly endedAt: number | undefined
}

/** The offer that the user takes, and how far the swap has come. */
export interface TakenOffer {
  readonly chain: Chain
  readonly quoteId: string
  readonly offer: Offer
  readonly wish: Wish
  readonly steps: readonly Step[]
  /** Whether the deposit address was checked against the contract, through the user's wallet. */
  readonly isChecked: boolean
  readonly problem: string
}

/** Undefined while the user still chooses. It outlives the page: a deposit must not be lost by a look at the market. */
export const takenOffer = signal<TakenOffer | undefined>(undefined)

type Choice = Pick<TakenOffer, 'chain' | 'quoteId' | 'offer' | 'wish'>

/** Takes an offer: by contract it is deposited at once, by address its deposit address is shown. */
export async function takeOffer(choice: Choice): Promise<void> {
  const { chain, offer, wish, quoteId } = choice
  rememberSwap({
    chainId: Number(chain.chainId),
    orderId: offer.orderId,
    quoteId,
    ...(wish.mode === 'ADDRESS' && { signedQuote: toStoredQuote(offer) }),
  })
  const names: StepName[] =
    wish.mode === 'CONTRACT' ? ['check', 'approve', 'deposit', 'fill'] : ['check', 'deposit', 'fill']
  const steps = names.map(
    (name): Step => ({ name, state: 'waiting', detail: '', startedAt: undefined, endedAt: undefined }),
  )
  takenOffer.value = { ...choice, steps, isChecked: false, problem: '' }
  if (wish.mode === 'CONTRACT') return run(({ swapByContract }) => swapByContract(offer, wish, chain, report))
  if (wallet.peek() === undefined) return report('deposit', 'active')
  await run(async ({ verifyOffer }) => {
    report('check', 'active')
    await verifyOffer(offer, wish, chain)
    report('check', 'done', 'signature, terms and deposit address are right')
    change((taken) => ({ ...taken, isChecked: true }))
    report('deposit', 'active')
  })
}

/** Pays the deposit address of the offer from the connected wallet, after another check. */
export async function payFromWallet(): Promise<void> {
  const taken = takenOffer.peek()
  if (taken === undefined) return
  const { offer, wish, chain } = taken
  await run(async ({ payDepositAddress }) => {
    await payDepositAddress(offer, wish, chain, report)
    change((now) => ({ ...now, isChecked: true }))
  })
}

/** Goes back to the choice among offers. */
export function leaveOffer(): void {
  takenOffer.value = undefined
}

/** The solver has filled the order, or the user got the input back. */
export function reportEnd(word: string): void {
  report('deposit', 'done')
  report('fill', 'done', word)
}

async function run(task: (code: Awaited<ReturnType<typeof loadWallet>>) => Promise<void>): Promise<void> {
  change((taken) => ({ ...taken, problem: '' }))
  const code = await loadWallet()
  try {
    await task(code)
  } catch (error) {
    const problem = code.describeWalletError(error)
    change((taken) => ({
      ...taken,
      problem,
      steps: taken.steps.map((step) => (step.state === 'active' ? { ...step, state: 'failed' } : step)),
    }))
  }
}

function report(name: StepName, state: 'active' | 'done', detail = ''): void {
  const at = Date.now()
  change((taken) => ({
    ...taken,
    steps: taken.steps.map((step, index): Step => {
      const isNext = state === 'done' && taken.steps[index - 1]?.name === name && name === 'deposit'
      if (isNext && step.state === 'waiting') return { ...step, state: 'active', startedAt: at }
      if (step.name !== name || step.state === 'done') return step
      const startedAt = step.startedAt ?? at
      return {
        ...step,
        state,
        detail: detail || step.detail,
        startedAt,
        endedAt: state === 'done' ? at : undefined,
      }
    }),
  }))
}

function change(to: (taken: TakenOffer) => TakenOffer): void {
  const taken = takenOffer.peek()
  if (taken !== undefined) takenOffer.value = to(taken)
}
