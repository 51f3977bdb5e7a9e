import { type Abi, type Address, encodeErrorResult } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import type { ContractRefusal, DepositVerdict } from '../../../packages/protocol/src/quotes/verification.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import {
  type Fixture,
  INPUT_AMOUNT,
  startSettlement,
  stranger,
  user,
} from '../../support/chain/settlement.js'
import { shared } from '../../support/shared.js'
import { ACCEPTED, createVerifier, NEVER, offerOf, unknownVerdict } from './verified-settlement.js'

const rejected = (error: ContractRefusal): DepositVerdict => ({ kind: 'rejected', error })
const unlisted = unknownVerdict('unlisted_revert')

const chain = await shared(startSettlement())
const rpcUrl = chain.client.transport.url ?? ''
const metrics = createMetrics()
const { chainId, contracts } = chain
const verifier = await shared(
  createVerifier([rpcUrl], { chainId, settlement: contracts.settlement, metrics }),
)

afterEach(() => chain.reset())

type Signed = Awaited<ReturnType<Fixture['signedQuote']>>
const verdictOn = (signed: Signed) => verifier.verifyDeposit(offerOf(signed), NEVER)

it('the reference contract accepts a quote whose user has allowance and balance, or lacks one of them', async () => {
  expect(await verdictOn(await chain.signedQuote())).toEqual(ACCEPTED)
  const inputAmount = 101n * INPUT_AMOUNT
  expect(await verdictOn(await chain.signedQuote({ inputAmount }))).toEqual(ACCEPTED)
  await chain.approve(chain.contracts.weth, user, 0n)
  expect(await verdictOn(await chain.signedQuote())).toEqual(ACCEPTED)
})

describe('a token', () => {
  const NAMES = [
    { type: 'error', name: 'SolverNotRegistered', inputs: [{ type: 'address', name: 'a' }] },
  ] as const
  const errorOfProtocol = encodeErrorResult({ abi: NAMES, args: [user.address] })

  it.each<[string, string, unknown[], DepositVerdict]>([
    [
      'reverts with an error of the protocol',
      'revertWith',
      [errorOfProtocol],
      rejected('SolverNotRegistered'),
    ],
    ['reverts with bytes', 'revertWith', ['0x00ff'], unlisted],
    ['reverts with a megabyte', 'revertWithSize', [2 ** 20], unknownVerdict('answer_too_long')],
    ['never ends, for which it has the gas of one call,', 'loop', [], unknownVerdict('empty_revert')],
    ['returns false, as one without allowance or balance,', 'returnFalse', [], ACCEPTED],
  ])('that %s has its own verdict', async (_what, action, args, verdict) => {
    const { abi, address } = await deployed('HostileToken')
    await chain.transact(user, address, abi, action, args)
    expect(await verdictOn(await chain.signedQuote({ inputToken: address }))).toEqual(verdict)
    expect(await verdictOn(await chain.signedQuote())).toEqual(ACCEPTED)
  })

  it('that returns nothing is taken like any other, and its underflow is not known', async () => {
    const { address } = await deployed('OldToken')
    const signed = await chain.signedQuote({ inputToken: address })
    await chain.mint(address, user.address, INPUT_AMOUNT)
    expect(await verdictOn(signed)).toEqual(unlisted)
    await chain.approve(address, user, INPUT_AMOUNT)
    expect(await verdictOn(signed)).toEqual(ACCEPTED)
  })
})

it('each verdict is counted once, with its time', async () => {
  metrics.registry.resetMetrics()
  await verdictOn(await chain.signedQuote())
  await verdictOn(await chain.signedQuote({}, stranger))
  await verifier.verifyDeposit(offerOf(await chain.signedQuote()), AbortSignal.abort())
  const counted = (await metrics.verifications.get()).values.map(({ labels, value }) => [
    labels.result,
    value,
  ])
  expect(counted).toEqual([
    ['accepted', 1],
    ['rejected', 1],
    ['unknown', 1],
  ])
  const { values } = await metrics.verificationSeconds.get()
  expect(values.find(({ metricName }) => metricName?.endsWith('_count'))?.value).toBe(2)
})

const sources = new Map<string, ReturnType<typeof compileSource>>()

/** Deploys a contract of test/support/chain. */
async function deployed(name: string): Promise<{ abi: Abi; address: Address }> {
  const source = sources.get(name) ?? compileSource(name)
  sources.set(name, source)
  return { abi: source.abi, address: await source.deploy({ rpcUrl, chainId }) }
}
