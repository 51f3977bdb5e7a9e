import { pino } from 'pino'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import type { OfferVerdict } from '../../../packages/protocol/src/quotes/offer-state.js'
import type { ContractRefusal } from '../../../packages/protocol/src/quotes/verification.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import type { ChainContext } from '../../../src/chain/context.js'
import {
  createDepositVerifier,
  type DepositVerifier,
} from '../../../src/chain/verification/deposit-verifier.js'
import { createMetrics } from '../../../src/telemetry/metrics.js'
import { RULES } from '../../support/chain/chain.js'
import { revertOf } from '../../support/chain/contract-calls.js'
import { compileSource } from '../../support/chain/deploy-source.js'
import {
  BOND,
  type Fixture,
  INPUT_AMOUNT,
  solver,
  startSettlement,
  stranger,
  user,
} from '../../support/chain/settlement.js'
import { only } from '../../support/only.js'
import { offerOf } from './signed-offer.js'

const NEVER = new AbortController().signal
const VALID: OfferVerdict = { state: 'VALID' }
const TAKEN: OfferVerdict = { state: 'TAKEN' }
const refused = (refusal: ContractRefusal): OfferVerdict => ({ state: 'DEAD', code: 'REFUSED', refusal })
const dead = (
  code: 'EXPIRED' | 'NONCE_USED' | 'BOND_TOO_SMALL' | 'BELOW_MINIMUM_ORDER' | 'SIGNATURE_INVALID',
) => ({ state: 'DEAD', code }) as const

type Signed = Awaited<ReturnType<Fixture['signedQuote']>>

const oldToken = compileSource('OldToken')
const hostileToken = compileSource('HostileToken')

describe.each(RULES)('on a contract with %s rules', (rules) => {
  let chain: Fixture
  let verifier: DepositVerifier
  let old: Address
  let wordless: Address

  beforeAll(async () => {
    chain = await startSettlement(rules)
    const devnet = { rpcUrl: chain.client.transport.url ?? '', chainId: chain.chainId }
    old = await oldToken.deploy(devnet)
    wordless = await hostileToken.deploy(devnet)
    await chain.transact(user, wordless, hostileToken.abi, 'revertWith', ['0x'])
    await chain.keep()
    verifier = createDepositVerifier(
      only<ChainContext>({
        config: {
          chainId: chain.chainId,
          rpcUrls: [devnet.rpcUrl],
          settlement: lowerCase(chain.contracts.settlement),
        },
        rpc: { endpoints: [] },
        verifyTimeoutMs: 300,
        metrics: createMetrics(),
        clock: systemClock,
        log: pino({ level: 'silent' }),
      }),
    )
  })
  afterAll(async () => {
    verifier?.close()
    await chain?.stop()
  })

  const check = async (signed: Signed) =>
    (await verifier.checkOffer({ ...offerOf(signed), isSigned: true }, NEVER)).verdict

  /** A token that the contract takes, and two whose `transferFrom` reverts without a word that is listed. */
  const inputTokens = () => [chain.contracts.weth, old, wordless]

  /** Why an offer cannot be deposited, and how to make one so. */
  const causes: [string, OfferVerdict, (terms: { inputToken: Address }) => Promise<Signed>][] = [
    ['nothing', VALID, (terms) => chain.signedQuote(terms)],
    [
      'a bond that just covers it',
      VALID,
      (terms) => chain.signedQuote({ ...terms, outputAmount: BOND * 20n + 19n }),
    ],
    [
      'a bond that is too small',
      dead('BOND_TOO_SMALL'),
      (terms) => chain.signedQuote({ ...terms, outputAmount: BOND * 20n + 20n }),
    ],
    [
      'a nonce of another order',
      dead('NONCE_USED'),
      async (terms) => {
        const { quote } = await chain.depositedQuote()
        return chain.signedQuote({ ...terms, nonce: quote.nonce, outputAmount: quote.outputAmount - 1n })
      },
    ],
    [
      'a cancelled nonce',
      dead('NONCE_USED'),
      async (terms) => {
        const signed = await chain.signedQuote(terms)
        await chain.send(solver, 'cancelNonce', [signed.quote.nonce])
        return signed
      },
    ],
    [
      'a time that is over',
      dead('EXPIRED'),
      async (terms) => {
        const signed = await chain.signedQuote(terms)
        await chain.nextBlockAt(signed.quote.depositDeadline + 1)
        await chain.client.mine({ blocks: 1 })
        return signed
      },
    ],
    [
      'another chain',
      refused(rules === 'deployed' ? 'WrongChain' : 'WrongOutputChain'),
      (terms) => chain.signedQuote({ ...terms, outputChainId: 10n }),
    ],
    ['a signature of another', dead('SIGNATURE_INVALID'), (terms) => chain.signedQuote(terms, stranger)],
    [
      'an output below the minimum',
      dead('BELOW_MINIMUM_ORDER'),
      (terms) => chain.signedQuote({ ...terms, outputAmount: 19n }),
    ],
  ]

  it.each(causes)(
    'a check and `deposit` agree about %s, before and after the approval',
    async (_cause, verdict, sign) => {
      // What an old token says matters only where the contract comes to its transfer.
      const tokens = inputTokens().filter((token) => token !== old || verdict.state === 'VALID')
      for (const inputToken of tokens) {
        const signed = await sign({ inputToken })
        await chain.approve(inputToken, user, 0n).catch(() => {})
        expect(await check(signed)).toEqual(verdict)
        if (inputToken !== wordless) {
          await chain.mint(inputToken, user.address, INPUT_AMOUNT)
          await chain.approve(inputToken, user, INPUT_AMOUNT)
          expect(await check(signed)).toEqual(verdict)
          const revert = await revertOf(chain.send(user, 'deposit', [signed.quote, signed.signature]))
          expect(revert === undefined).toBe(verdict.state === 'VALID')
        }
        await chain.reset()
      }
    },
  )

  it.runIf(rules === 'deployed')('a nonce that was cancelled without an event is used', async () => {
    const signed = await chain.signedQuote()
    await chain.send(solver, 'cancelNonces', [signed.quote.nonce >> 8n, 1n << (signed.quote.nonce & 255n)])
    expect(await check(signed)).toEqual(dead('NONCE_USED'))
    await chain.reset()
  })

  it('an offer is taken by its deposit, at the contract or at its address, also after its time', async () => {
    const deposited = await chain.depositedQuote()
    const funded = await chain.fundedQuote()
    expect(await check(funded)).toEqual(VALID)
    await chain.send(solver, 'settle', [funded.quote, funded.signature])
    await chain.nextBlockAt(deposited.quote.depositDeadline + 1)
    await chain.client.mine({ blocks: 1 })
    expect([await check(deposited), await check(funded)]).toEqual([TAKEN, TAKEN])
    await chain.reset()
  })

  it('names the block that it has read', async () => {
    const { number, timestamp } = await chain.client.getBlock()
    const offer = { ...offerOf(await chain.signedQuote()), isSigned: true }
    const { block } = await verifier.checkOffer(offer, NEVER)
    expect(block).toEqual({ number: Number(number), time: Number(timestamp) })
  })
})
