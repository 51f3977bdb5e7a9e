import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type {
  AnswerResult,
  DepositedOrder,
  FilledOrder,
  MinedTransaction,
  MissedOrder,
  OrderTerms,
  QuotedOrder,
  SessionChange,
  SolverQuoteRequest,
} from '../src/index.js'

/** The names of a type, all of them: with another one, or without one, this file has no types. */
const namesOf =
  <T>() =>
  (names: Record<T extends unknown ? keyof T : never, true>) =>
    Object.keys(names)

const TERMS = {
  chainId: true,
  orderId: true,
  quoteId: true,
  user: true,
  inputToken: true,
  inputAmount: true,
  outputToken: true,
  outputAmount: true,
  depositDeadline: true,
  fillDeadline: true,
} as const
const GAS = { gasUsed: true, gasCost: true } as const
const HOOKS = {
  onQuoted: namesOf<QuotedOrder>()({ ...TERMS, kind: true }),
  onDeposit: namesOf<DepositedOrder>()({ ...TERMS, deposit: true, transactionHash: true }),
  onDepositRemoved: namesOf<OrderTerms>()(TERMS),
  onFilled: namesOf<FilledOrder>()({ ...TERMS, transactionHash: true, ...GAS }),
  onMissed: namesOf<MissedOrder>()({ ...TERMS, deposit: true, cost: true }),
  onCancelled: namesOf<OrderTerms>()(TERMS),
  onTransaction: namesOf<MinedTransaction>()({
    chainId: true,
    nonce: true,
    hash: true,
    purpose: true,
    orderId: true,
    isReverted: true,
    ...GAS,
  }),
  onResult: namesOf<AnswerResult>()({
    request: true,
    inputAmount: true,
    outputAmount: true,
    id: true,
    outcome: true,
    reason: true,
    rank: true,
    chosenBy: true,
    gapBps: true,
    isWaitedFor: true,
    decline: true,
  }),
  onSession: namesOf<SessionChange>()({
    state: true,
    url: true,
    sessionId: true,
    error: true,
    code: true,
    isFinal: true,
  }),
}
const REQUEST = namesOf<SolverQuoteRequest>()({
  kind: true,
  inputToken: true,
  outputToken: true,
  orderType: true,
  amount: true,
  user: true,
  chainId: true,
  destinationChainId: true,
  depositMode: true,
  isForAddress: true,
  depositDeadline: true,
  minDepositDeadline: true,
  fillDeadline: true,
  deadline: true,
  id: true,
  signal: true,
})

const readme = readFileSync('packages/solver/README.md', 'utf8')
/** What is in code and begins in lower case: values are in capitals. */
const codes = (text: string) => [...text.matchAll(/`([a-z]\w*)`/g)].map(([, name]) => name)

it('the README says what `quote` gets', () => {
  const said = /It gets the request with(.*?)It returns/s.exec(readme)?.[1]
  expect(codes(said ?? '').sort()).toEqual(REQUEST.sort())
})

it.each(Object.entries(HOOKS))('the README says what %s gets', (hook, names) => {
  const terms = codes(/^The terms are(.*?)\. Tokens/ms.exec(readme)?.[1] ?? '').filter(
    (name) => name !== 'id',
  )
  expect(terms.toSorted()).toEqual(Object.keys(TERMS).sort())
  const row = readme.split('\n').find((line) => line.startsWith(`| \`${hook}\` | `))
  const gets = row?.split(' | ').at(-1) ?? ''
  const said = codes(gets).filter((name) => name !== 'quote')
  expect([...said, ...(gets.startsWith('the terms') ? terms : [])].sort()).toEqual(names.sort())
})
