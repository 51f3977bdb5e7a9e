import { expect, test } from 'vitest'
import { exactInput, SOLVER, signedQuote } from '../../../../test/support/solvers/sample-quotes.js'
import { createContractRules } from '../../src/signing/offer-validator.js'

const NOW = 1_800_000_000
/** What is known, and what the offer has: each row changes one of them. The output is 3000, of which the bond reserves 150. */
const usual = { freeBond: 150n, bondReservationBps: 500n, minOrder: 3000n, used: 8n, now: NOW }

function rulesOf(changes: Partial<Record<keyof typeof usual, bigint | number | undefined>>) {
  const { freeBond, bondReservationBps, minOrder, used, now } = { ...usual, ...changes } as typeof usual
  return createContractRules({
    chains: new Map([[1, { terms: () => ({ bondReservationBps, minOrder }) }]]),
    freeBonds: { of: ({ chainId, address }) => (chainId === 1 && address === SOLVER ? freeBond : undefined) },
    usedNonces: { isUsed: (_solver, nonce) => nonce === used },
    deadlineTime: () => now * 1000,
  })
}

test.each([
  ['is taken when the free bond just covers it', {}, undefined],
  ['is dropped when the free bond lacks one unit', { freeBond: 149n }, 'bond_too_small'],
  ['is dropped while the free bond is not known', { freeBond: undefined }, 'bond_too_small'],
  [
    'is taken without a bond when the contract reserves none',
    { bondReservationBps: undefined, freeBond: undefined },
    undefined,
  ],
  ['is dropped below the minimum order', { minOrder: 3001n }, 'below_minimum_order'],
  ['is taken when the contract has no minimum order', { minOrder: undefined }, undefined],
  ['is dropped with a used nonce', { used: 7n }, 'nonce_used'],
])('an offer %s', (_what, changes, reason) => {
  expect(rulesOf(changes).violationOf(exactInput, signedQuote().quote)).toBe(reason)
})

test.each([
  [3019n, undefined],
  [3020n, 'bond_too_small'],
])('an output of %i is covered by 150, as the contract divides: %s', (outputAmount, reason) => {
  expect(rulesOf({}).violationOf(exactInput, signedQuote({ outputAmount }).quote)).toBe(reason)
})

test.each([
  [40, undefined],
  [41, 'deposit_deadline_mismatch'],
])('an offer that ends after 60 s and not after 300 s is judged after %i s', (seconds, reason) => {
  const { quote } = signedQuote({ depositDeadline: NOW + 60, fillDeadline: NOW + 180 })
  expect(rulesOf({ now: NOW + seconds }).violationOf(exactInput, quote)).toBe(reason)
})

test.each([
  ['its free bond is known', {}, true],
  ['its free bond is not known', { freeBond: undefined }, false],
  ['the contract reserves no bond', { freeBond: undefined, bondReservationBps: undefined }, true],
])('whether the offers of a solver can be checked when %s', (_what, changes, can) => {
  expect(rulesOf(changes).canCheck({ chainId: 1, address: SOLVER })).toBe(can)
})
