import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OfferVerdict } from '../../../packages/protocol/src/quotes/offer-state.js'
import type { ContractRefusal } from '../../../packages/protocol/src/quotes/verification.js'
import type { DepositVerifier } from '../../../src/chain/verification/deposit-verifier.js'
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
import { createVerifier, NEVER, offerOf } from './verified-settlement.js'

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
    verifier = createVerifier([devnet.rpcUrl], { ...devnet, settlement: chain.contracts.settlement })
  })
  afterAll(async () => {
    verifier?.close()
    await chain?.stop()
  })

  const check = async (signed: Signed) =>
    (await verifier.checkOffer({ ...offerOf(signed), isSigned: true }, NEVER)).verdict

  const deposit = ({ quote, signature }: Signed) => revertOf(chain.send(user, 'deposit', [quote, signature]))

  it('an offer with any token, whose bond just covers it, is valid before and after the approval', async () => {
    // The third one is not taken, but without a word that is listed.
    for (const inputToken of [chain.contracts.weth, old, wordless]) {
      const signed = await chain.signedQuote({ inputToken, outputAmount: BOND * 20n + 19n })
      await chain.approve(inputToken, user, 0n).catch(() => {})
      expect(await check(signed)).toEqual(VALID)
      if (inputToken === wordless) continue
      await chain.mint(inputToken, user.address, INPUT_AMOUNT)
      await chain.approve(inputToken, user, INPUT_AMOUNT)
      expect(await check(signed)).toEqual(VALID)
      expect(await deposit(signed)).toBeUndefined()
      await chain.reset()
    }
  })

  /** Why an offer cannot be deposited, and how to make one so. */
  const causes: [string, OfferVerdict, () => Promise<Signed>][] = [
    [
      'with a bond that is too small',
      dead('BOND_TOO_SMALL'),
      () => chain.signedQuote({ outputAmount: BOND * 20n + 20n }),
    ],
    [
      'with the nonce of another order',
      dead('NONCE_USED'),
      async () => {
        const { quote } = await chain.depositedQuote()
        return chain.signedQuote({ nonce: quote.nonce, outputAmount: quote.outputAmount - 1n })
      },
    ],
    [
      'with a cancelled nonce',
      dead('NONCE_USED'),
      async () => {
        const signed = await chain.signedQuote()
        await chain.send(solver, 'cancelNonce', [signed.quote.nonce])
        return signed
      },
    ],
    [
      'whose time is over',
      dead('EXPIRED'),
      async () => {
        const signed = await chain.signedQuote()
        await chain.nextBlockAt(signed.quote.depositDeadline + 1)
        await chain.client.mine({ blocks: 1 })
        return signed
      },
    ],
    [
      'for another chain',
      refused(rules === 'deployed' ? 'WrongChain' : 'WrongOutputChain'),
      () => chain.signedQuote({ outputChainId: 10n }),
    ],
    ['with a signature of another', dead('SIGNATURE_INVALID'), () => chain.signedQuote({}, stranger)],
    ['below the minimum', dead('BELOW_MINIMUM_ORDER'), () => chain.signedQuote({ outputAmount: 19n })],
  ]

  it.each(causes)('a check and `deposit` refuse an offer %s', async (_cause, verdict, sign) => {
    const signed = await sign()
    expect(await check(signed)).toEqual(verdict)
    expect(await deposit(signed)).toBeDefined()
    await chain.reset()
  })

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
