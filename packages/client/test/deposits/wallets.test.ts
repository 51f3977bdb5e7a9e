import type { DepositMode, DepositProgress } from '@quote-aggregator/client'
import { expect, it } from 'vitest'
import { INPUT_AMOUNT, user } from '../../../../test/support/chain/settlement.js'
import { OrderState } from '../../../../test/support/chain/signed-quote.js'
import { called, passTime, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { MockWalletOptions, SentBatch } from '../../../../test/support/clients/mock-wallet.js'

/** The habits of a wallet, and what is around it. */
interface Habits extends Pick<MockWalletOptions, 'batches' | 'scope'> {
  /** CONTRACT when left out. */
  readonly mode?: DepositMode
  /** Whether the contract has the allowance before. */
  readonly isAllowed?: true
  /** No block comes before the first call has ended. */
  readonly isHeld?: true
  /** The wallet throws this, and has sent nothing. */
  readonly refuses?: unknown
  /** It throws this after it has sent. */
  readonly loses?: unknown
  /** Its answers by method, after it has done what it was asked for. It throws errors, and waits for promises. */
  readonly answers?: Readonly<Record<string, unknown>>
  /** The chain is read once a minute. */
  readonly isSeldomRead?: true
  /** The node does not say what the account has sent. */
  readonly isSilent?: true
  /** Others may send for the account. */
  readonly hasCode?: true
  /** How many seconds pass after the wallet was asked. */
  readonly seconds?: number
  /** What comes to the address meanwhile. */
  readonly comes?: bigint
}

const deposits = useDeposits()

/** Deposits, and calls again as after a reload, when a block has come and the wallet has no habits. */
async function play({ mode: depositMode = 'CONTRACT', answers = {}, ...habits }: Habits) {
  const { chain, node, begin, onProgress } = deposits
  let hasHabits = true
  const fail = (when: 'refuses' | 'loses') => () => {
    if (hasHabits && when in habits) throw habits[when]
  }
  const { client, prompts } = deposits.walletOf({
    ...(habits.batches && { batches: habits.batches }),
    ...(habits.scope && { scope: habits.scope }),
    onPrompt: fail('refuses'),
    async onCarriedOut() {
      // What is not held is mined before the wallet throws.
      if ('loses' in habits && !habits.isHeld) await deposits.mine()
      fail('loses')()
    },
    async answer({ method }, own) {
      if (!hasHabits || !(method in answers)) return own()
      await own().catch(() => {})
      if (answers[method] === NEVER) await deposits.mine()
      if (answers[method] instanceof Error) throw answers[method]
      return answers[method]
    },
  })
  if (habits.isAllowed) await deposits.allow()
  const bytecode = `0xef0100${'0d'.repeat(20)}` as const
  if (habits.hasCode) await chain.client.setCode({ address: user.address, bytecode })
  await deposits.holdBlocks()
  const settlement = await deposits.terms((asked) =>
    habits.isSilent && asked.method === 'eth_getTransactionCount'
      ? Promise.reject(new Error('busy'))
      : node(asked),
  )
  if (habits.isSeldomRead)
    Object.assign(settlement, { client: { ...settlement.client, pollingInterval: 60_000 } })
  const { offer, told, steps, ended } = await begin(client, { depositMode, onProgress }, { settlement })
  if (habits.seconds) {
    await expect.poll(steps).toEqual(['deposit asked'])
    await passTime(deposits, habits.seconds)
    const { weth } = chain.contracts
    await chain.client.setAutomine(true)
    if (habits.comes) await chain.transfer(weth, user, offer.depositAddress, habits.comes)
  }
  const first = [wordOf(await ended), steps().join(), called(prompts).join()]
  const batch = prompts.flatMap(({ params }) => params)[0] as SentBatch
  await deposits.mine()
  await chain.client.setAutomine(true)
  hasHabits = false
  const { length } = prompts
  const earlier: DepositProgress | null = JSON.parse(JSON.stringify(told.at(-1) ?? null))
  const again = await begin(client, { depositMode, earlier }, { offer })
  const second = [wordOf(await again.ended), ...called(prompts.slice(length))].join()
  return { offer, told, batch, ends: [...first, second] }
}

/** How a call ends: with the deposit, with the reason that it is not there, or with what the wallet or the node has thrown. */
const wordOf = (end: unknown) => (typeof end === 'string' ? end : 'an error')

const TRANSFER = { mode: 'ADDRESS' } as const
const BATCHES = { batches: 'supported' } as const
const ALLOWED = { isAllowed: true } as const
const HELD = { isAllowed: true, isHeld: true } as const

/** What is a no, and what is none, is in wallet-refusal.test.ts. */
const NO = { code: 4001, message: 'User rejected the request.' }
const WORDS_OF_NO = 'User rejected the request'
const TROUBLE = { code: -32000, message: 'already known' }
const LOST = new TypeError('Failed to fetch')
const UNREADABLE = Object.defineProperty({}, 'cause', {
  get() {
    throw new Error('cannot be read')
  },
})
const error = (code: number, more = {}) => Object.assign(new Error(NO.message), { code, ...more })
const NEVER = new Promise<never>(() => {})

const sends = (answer: unknown) => ({ answers: { eth_sendTransaction: answer } })
/** Answers a batch so, and knows nothing of it later. */
const sendsBatch = (answer: unknown) => ({
  ...BATCHES,
  answers: { wallet_sendCalls: answer, wallet_getCallsStatus: error(5730) },
})
const says = (wallet_getCapabilities: unknown) => ({ ...BATCHES, answers: { wallet_getCapabilities } })

const MINED = 'deposit asked,deposit sent,deposit mined'
const BOTH_MINED = `approve asked,approve sent,approve mined,${MINED}`
const REFUSED = 'deposit asked,deposit refused'
const BOTH = 'approve,deposit'
const BATCH = 'wallet_sendCalls'

/** How the first call ends, its steps and its prompts, and how the second one ends and what it asks for. */
type Ends = readonly [end: string, steps: string, prompts: string, again: string]

const refused = (prompt: string): Ends => ['an error', REFUSED, prompt, `there,${prompt}`]
const inOneBatch: Ends = ['there', MINED, BATCH, 'there']
const oneByOne: Ends = ['there', BOTH_MINED, BOTH, 'there']
/** The deposit was sent, and is not asked for again. */
const unknown = (prompt: string): Ends => ['UNCERTAIN', 'deposit asked', prompt, 'there']
/** The deposit is there before the wallet has answered: the prompt may be open still. */
const seen = (prompt: string, steps = 'deposit asked'): Ends => ['there', steps, prompt, 'there']
const inTrouble = (prompt: string): Ends => ['UNCERTAIN', 'deposit asked', prompt, 'UNCERTAIN']

it.each<[what: string, habits: Habits, ends: Ends]>([
  ['says nothing of batches', {}, oneByOne],
  ['sends a transfer', TRANSFER, ['there', MINED, 'transfer', 'there']],
  ['sends a transfer, and takes batches', { ...TRANSFER, ...BATCHES }, ['there', MINED, 'transfer', 'there']],
  ['takes atomic batches', BATCHES, inOneBatch],
  ['would take them', { batches: 'ready' }, inOneBatch],
  ['takes batches that are not atomic', { batches: 'unsupported' }, inOneBatch],
  ['takes batches on all chains', { ...BATCHES, scope: '0x0' }, inOneBatch],
  ['writes the chain with a zero', { ...BATCHES, scope: '0x07A69' }, inOneBatch],
  ['writes the chain in decimals', { ...BATCHES, scope: '31337' }, inOneBatch],
  ...[5750, 5760, 5700, 5710, 5740, 4200, -32601, -32602].map((batches): [string, Habits, Ends] => [
    `refuses the batch with ${batches}`,
    { batches },
    ['there', `${REFUSED},${BOTH_MINED}`, `${BATCH},${BOTH}`, 'there'],
  ]),

  ['declines a call by a code', { ...ALLOWED, refuses: NO }, refused('deposit')],
  ['declines a call by words', { ...ALLOWED, refuses: WORDS_OF_NO }, refused('deposit')],
  ['declines a transfer by a code', { ...TRANSFER, refuses: NO }, refused('transfer')],
  ['declines a transfer by words', { ...TRANSFER, refuses: WORDS_OF_NO, seconds: 31 }, refused('transfer')],
  ['declines a batch by a code', { ...BATCHES, refuses: NO }, refused(BATCH)],
  ['declines a batch by words', { ...BATCHES, refuses: error(-32000) }, refused(BATCH)],
  ['is in trouble with a call', { ...ALLOWED, refuses: TROUBLE }, inTrouble('deposit')],
  ['is in trouble with a transfer', { ...TRANSFER, refuses: TROUBLE }, inTrouble('transfer')],
  ['throws what cannot be read', { ...TRANSFER, refuses: UNREADABLE }, inTrouble('transfer')],
  [
    'is in trouble with an approval, which moves no tokens',
    { refuses: TROUBLE },
    ['APPROVAL_UNCERTAIN', 'approve asked', 'approve', `there,${BOTH}`],
  ],
  [
    'of others declines by words',
    { ...TRANSFER, hasCode: true, refuses: WORDS_OF_NO },
    inTrouble('transfer'),
  ],
  [
    'of others declines by a code, and nothing comes',
    { ...TRANSFER, hasCode: true, refuses: NO, seconds: 31 },
    refused('transfer'),
  ],
  [
    'of others declines by a code, and tokens come',
    { ...TRANSFER, hasCode: true, refuses: NO, seconds: 10, comes: 1n },
    inTrouble('transfer'),
  ],

  ['loses the answer to a call', { ...HELD, loses: LOST }, unknown('deposit')],
  ['loses the answer to a batch', { ...BATCHES, isHeld: true, loses: LOST }, unknown(BATCH)],
  ['sends a call, and declines by a code', { ...HELD, loses: NO }, unknown('deposit')],
  ['sends a call, and declines by words', { ...HELD, loses: WORDS_OF_NO }, unknown('deposit')],
  ['sends a transfer, and declines by a code', { ...TRANSFER, ...HELD, loses: NO }, unknown('transfer')],
  [
    'sends a transfer, and declines by words',
    { ...TRANSFER, ...HELD, loses: WORDS_OF_NO },
    unknown('transfer'),
  ],
  ['sends where its count is unknown', { ...HELD, isSilent: true, loses: NO }, unknown('deposit')],
  ['declines by words there', { ...HELD, isSilent: true, loses: WORDS_OF_NO }, unknown('deposit')],
  [
    'is not asked for a transfer where its count is unknown',
    { ...TRANSFER, isSilent: true },
    ['an error', '', '', 'there,transfer'],
  ],
  // viem would ask a second time, by another method.
  ...[-32000, -32601, -32602].map((code): [string, Habits, Ends] => [
    `sends, and fails with ${code}`,
    { ...TRANSFER, ...HELD, loses: error(code) },
    unknown('transfer'),
  ]),
  [
    'sends a batch one by one, and fails with an error of its node inside',
    { batches: 'unsupported', isHeld: true, loses: error(-32603, { data: { code: -32602 } }) },
    unknown(BATCH),
  ],
  [
    'sends a batch one by one, and says that it takes none',
    { batches: 'unsupported', isHeld: true, loses: error(-32602) },
    unknown(BATCH),
  ],
  ['declines a call that is mined', { ...ALLOWED, loses: WORDS_OF_NO }, seen('deposit')],
  ['is in trouble with a call that is mined', { ...ALLOWED, loses: TROUBLE }, seen('deposit')],
  ['declines one, seldom read', { ...ALLOWED, isSeldomRead: true, loses: NO }, seen('deposit')],
  ['declines a transfer, seldom read', { ...TRANSFER, isSeldomRead: true, loses: NO }, seen('transfer')],
  ['never answers a call', sends(NEVER), seen(BOTH, 'approve asked,deposit asked')],
  ['never answers a transfer', { ...TRANSFER, ...sends(NEVER) }, seen('transfer')],
  ['never answers a batch', sendsBatch(NEVER), seen(BATCH)],

  ...[null, '', {}, 17].map((answer): [string, Habits, Ends] => [
    `answers ${JSON.stringify(answer)} to a transfer`,
    { ...TRANSFER, isHeld: true, ...sends(answer) },
    unknown('transfer'),
  ]),
  ['names transactions by what no node knows', sends('operation 1'), oneByOne],
  ['answers a batch as in version 1', sendsBatch('batch 0'), inOneBatch],
  ['forgets the id of a batch', sendsBatch({ id: 'batch 0' }), inOneBatch],
  [
    'never says what has become of a batch',
    { ...BATCHES, answers: { wallet_getCallsStatus: NEVER } },
    inOneBatch,
  ],
  ...[null, '', {}, { id: 17 }].map((answer): [string, Habits, Ends] => [
    `answers ${JSON.stringify(answer)} to a batch`,
    { ...sendsBatch(answer), isHeld: true },
    unknown(BATCH),
  ]),
  ...[null, [], {}, { '0x7a69': null }, { '0x1': { atomic: { status: 'supported' } } }, 'yes'].map(
    (answer): [string, Habits, Ends] => [`says ${JSON.stringify(answer)} of batches`, says(answer), oneByOne],
  ),
])('a wallet %s', async (_what, habits, ends) => {
  const played = await play(habits)
  expect(played.ends).toEqual(ends)
  const { offer } = played
  const isThere = ends[3].startsWith('there')
  if (habits.mode) expect((await deposits.held(offer)) === INPUT_AMOUNT).toBe(isThere)
  else expect((await deposits.stateOf(offer)) === OrderState.DEPOSITED).toBe(isThere)
  if (ends === inOneBatch) {
    const { weth, settlement } = deposits.chain.contracts
    const { batch, told } = played
    const atomicRequired = habits.batches !== 'unsupported'
    expect(batch).toMatchObject({ version: '2.0.0', from: user.address, chainId: '0x7a69', atomicRequired })
    expect(batch.calls.map(({ to, value }) => [to, value])).toEqual(
      [weth, settlement].map((to) => [to, '0x0']),
    )
    expect(told.at(-1)?.batchId).toBe('batch 0')
  }
})
