import { create, toBinary } from '@bufbuild/protobuf'
import { type EIP1193Provider, toFunctionSelector } from 'viem'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ChainSchema } from '../../../../gen/aggregator/v1/chain_pb.js'
import { CheckOfferResponseSchema, OfferState } from '../../../../gen/aggregator/v1/quote_pb.js'
import { anyone, user } from '../../../../test/support/chain/settlement.js'
import { called, useDeposits } from '../../../../test/support/clients/deposits.js'
import type { MockWalletOptions, WalletRequest } from '../../../../test/support/clients/mock-wallet.js'
import { deferred } from '../../../../test/support/deferred.js'
import { only } from '../../../../test/support/only.js'
import { addressUse } from '../../src/data/orders/address-use.js'
import {
  changeSwap,
  isDepositBegun,
  isKept,
  ownSwap,
  rememberSwap,
  toStoredQuote,
} from '../../src/data/orders/own-swaps.js'
import {
  checkAddress,
  leaveOffer,
  reportDeposit,
  reportEnd,
  resumeSwap,
  sendFromWallet,
  stateOf,
  type TakenOffer,
  takenOffer,
  takeOffer,
} from '../../src/pages/swap/taken-offer.js'
import { connectWallet, disconnectWallet, switchChain } from '../../src/wallet/wallet.js'
import { toConsoleOffer } from '../console-offer.js'

await vi.hoisted(async () => (await import('../page-globals.js')).stubPage())

const IS_NONCE_USED = toFunctionSelector('isNonceUsed(address,uint256)')

/** Says of each nonce that it is used: a cancellation that emits no event, of which the instance cannot know. */
function nonceUsed({ method, params }: WalletRequest) {
  const [call] = (params ?? []) as readonly { data?: string }[]
  if (method !== 'eth_call' || !call?.data?.startsWith(IS_NONCE_USED)) return undefined
  return `0x${'1'.padStart(64, '0')}`
}

function hideAndShow() {
  for (const hidden of [true, false]) {
    Object.assign(document, { hidden })
    document.dispatchEvent(new Event('visibilitychange'))
  }
}

describe('a swap of the console', () => {
  const deposits = useDeposits('deployed')

  /** Connects a wallet. @param answer what its node says in place of the chain */
  async function connect(
    answer: (asked: WalletRequest) => unknown = () => undefined,
    options: Partial<MockWalletOptions> = {},
  ) {
    const node = async (asked: WalletRequest) => {
      const said = await answer(asked)
      if (said !== undefined) return said
      return asked.method === 'eth_requestAccounts' ? [user.address] : deposits.node(asked)
    }
    const wallet = deposits.walletOf({ node, ...options })
    const listeners = new Map<string, (value: unknown) => void>()
    const provider = only<EIP1193Provider>({
      request: wallet.request,
      on: (event: string, listener: () => void) => void listeners.set(event, listener),
      removeListener: (event: string) => void listeners.delete(event),
    })
    await connectWallet({ info: { uuid: 'test', name: 'Test', rdns: 'example.test', icon: '' }, provider })
    return { ...wallet, emit: (event: string, value: unknown) => listeners.get(event)?.(value), listeners }
  }

  /** The choice of an offer, as the form makes it. */
  async function choice(mode: 'CONTRACT' | 'ADDRESS') {
    const { contracts, chainId } = deposits.chain
    const offer = await deposits.offerOf()
    const { inputToken, outputToken, inputAmount, user } = offer.quote
    return {
      chain: create(ChainSchema, {
        chainId: BigInt(chainId),
        settlement: contracts.settlement,
        protocolName: 'Service',
      }),
      quoteId: 'a quote',
      offer: toConsoleOffer(offer),
      wanted: { inputToken, outputToken, isExactInput: true, amount: inputAmount, user, mode },
    }
  }

  const useOf = ({ chain, offer }: Awaited<ReturnType<typeof choice>>, nowMs = Date.now()) =>
    addressUse(offer.quote, ownSwap(chain.chainId, offer.orderId), { held: undefined, isDead: false, nowMs })

  beforeEach(() => {
    leaveOffer()
    disconnectWallet()
  })

  it('shows a deposit address once its check has passed, and not while it runs or when it has failed', async () => {
    const taken = await choice('ADDRESS')
    const shown: string[] = []
    await connect(({ method }) => {
      if (method !== 'eth_call') return undefined
      shown.push(useOf(taken))
      throw Object.assign(new Error('the node is away'), { code: -32000 })
    })
    await takeOffer(taken)
    expect(new Set([...shown, useOf(taken)])).toEqual(new Set(['check open']))
    expect(shown.length).toBeGreaterThan(0)
    await connect()
    await checkAddress()
    expect(useOf(taken)).toBe('pay')

    const wallet = await connect(nonceUsed)
    await sendFromWallet()
    expect(takenOffer.peek()?.problem).toContain('no longer available')
    expect(useOf(taken)).toBe('check failed')
    expect(wallet.prompts).toEqual([])
  })

  it('takes no offer of another request', async () => {
    const taken = await choice('ADDRESS')
    const other = `0x${'9'.repeat(40)}`
    for (const wrong of [{ user: other }, { inputToken: other }, { outputToken: other }, { amount: 1n }]) {
      await takeOffer({ ...taken, wanted: { ...taken.wanted, ...wrong } })
      expect(takenOffer.peek()).toBe(undefined)
    }
    await takeOffer(taken)
    expect(shown().offer).toBe(taken.offer)
  })

  it('takes no check for failed whose nonce its own order has used', async () => {
    for (const isSeenBefore of [false, true]) {
      await connect()
      const taken = await choice('ADDRESS')
      await takeOffer(taken)
      expect(stateOf('check', shown())).toBe('done')
      await connect(nonceUsed)
      if (isSeenBefore) reportDeposit(taken.offer.orderId)
      await checkAddress()
      expect(stateOf('check', shown())).toBe(isSeenBefore ? 'done' : 'failed')
      reportDeposit(taken.offer.orderId)
      expect(shown().problem).toBe('')
      expect(stateOf('check', shown())).toBe('done')
      expect(ownSwap(taken.chain.chainId, taken.offer.orderId)?.check).toBe('passed')
    }
  })

  it('says from two minutes before the deadline that a transfer must not be confirmed any more, until the wallet has sent it', async () => {
    const taken = await choice('ADDRESS')
    const prompt = deferred()
    await connect(undefined, { onPrompt: () => prompt.opened })
    await takeOffer(taken)
    const sending = sendFromWallet()
    const uses = (secondsLeft: number) =>
      useOf(taken, (taken.offer.quote.depositDeadline - secondsLeft) * 1000)
    await expect.poll(() => uses(121)).toBe('asked')
    expect(uses(119)).toBe('asked too late')
    await deposits.holdBlocks()
    prompt.open()
    await expect.poll(() => uses(119)).toBe('asked')
    await deposits.mine()
    await sending
    expect(uses(119)).toBe('paid')
  })

  it('remembers its swaps when the data of the site is deleted', async () => {
    await connect()
    const taken = await choice('ADDRESS')
    await takeOffer(taken)
    const progress = { step: 'deposit', state: 'asked' } as const
    changeSwap(taken.offer.orderId, () => ({ progress }))
    localStorage.removeItem('swaps')
    changeSwap(taken.offer.orderId, () => ({ isBegun: true }))
    expect(useOf(taken)).toBe('asked')
    expect(localStorage.getItem('swaps')).toContain('"state":"asked"')
  })

  it('sends nothing for an offer that the instance says is dead or taken, whatever the own node says', async () => {
    for (const state of [OfferState.DEAD, OfferState.TAKEN]) {
      const wallet = await connect()
      const answer = toBinary(CheckOfferResponseSchema, create(CheckOfferResponseSchema, { state }))
      const headers = { 'content-type': 'application/proto' }
      const { fetch } = globalThis
      const fetched = vi
        .spyOn(globalThis, 'fetch')
        .mockImplementation(async (url, init) =>
          String(url).endsWith('/CheckOffer') ? new Response(answer, { headers }) : fetch(url, init),
        )
      onTestFinished(() => void fetched.mockRestore())
      const taken = await choice('ADDRESS')
      await takeOffer(taken)
      expect(shown().problem).toContain('takes this offer no more, says the instance')
      expect([useOf(taken), wallet.prompts]).toEqual(['check failed', []])
      fetched.mockRestore()
    }
  })

  it('checks an offer again when the tab comes back to the front, and hides its address until then', async () => {
    let isUsed = false
    const shownMeanwhile: string[] = []
    const taken = await choice('ADDRESS')
    await connect((asked) => {
      if (!isUsed) return undefined
      shownMeanwhile.push(useOf(taken))
      return nonceUsed(asked)
    })
    await takeOffer(taken)
    expect(useOf(taken)).toBe('pay')
    isUsed = true
    document.dispatchEvent(new Event('visibilitychange'))
    expect(useOf(taken)).toBe('pay')
    hideAndShow()
    await expect.poll(() => useOf(taken)).toBe('check failed')
    expect(new Set(shownMeanwhile)).toEqual(new Set(['check open']))
  })

  it('asks nothing of a wallet on another network when the tab comes back', async () => {
    await connect()
    await takeOffer(await choice('ADDRESS'))
    await connect(({ method }) => (method === 'eth_chainId' ? '0x1' : undefined))
    hideAndShow()
    expect(shown().isBusy).toBe(false)
  })

  it('follows a deposit that the wallet may have sent, and neither judges its offer again nor asks twice', async () => {
    for (const mode of ['CONTRACT', 'ADDRESS'] as const) {
      await deposits.allow()
      const taken = await choice(mode)
      const wallet = await connect(undefined, {
        onCarriedOut() {
          throw Object.assign(new Error('the answer is lost'), { code: -32603 })
        },
      })
      await deposits.holdBlocks()
      await takeOffer(taken)
      if (mode === 'ADDRESS') await sendFromWallet()
      expect(shown().problem).toContain('Look into your wallet')
      expect(ownSwap(taken.chain.chainId, taken.offer.orderId)?.isBegun).toBe(true)
      if (mode === 'ADDRESS') expect(useOf(taken)).toBe('asked')

      await deposits.chain.client.setAutomine(true)
      await deposits.mine()
      leaveOffer()
      await takeOffer(taken)
      if (mode === 'ADDRESS') await sendFromWallet()
      expect([shown().problem, stateOf('deposit', shown())]).toEqual(['', 'done'])
      expect(wallet.prompts).toHaveLength(1)
      if (mode === 'ADDRESS') expect(useOf(taken)).toBe('paid')
    }
  })

  it.each(['CONTRACT', 'ADDRESS'] as const)(
    'shows a deposit in mode %s again that the wallet was asked for before the page was loaded, until it is seen',
    async (mode) => {
      const { chain, quoteId, offer, wanted } = await choice(mode)
      const resumed = (state: 'asked' | 'mined', chainId = chain.chainId) => {
        const swap = { chainId: Number(chainId), orderId: offer.orderId, quoteId, isBegun: true }
        const stored = { signedQuote: toStoredQuote(offer), isContract: mode === 'CONTRACT' }
        rememberSwap({ ...swap, ...stored, progress: { step: 'deposit', state } })
        resumeSwap(chain)
        return takenOffer.peek()
      }
      expect([resumed('mined'), resumed('asked', 1n)]).toEqual([undefined, undefined])
      expect(resumed('asked')).toMatchObject({ quoteId, wanted, isBusy: false })
      expect(stateOf('deposit', shown())).toBe('active')
      // The user has looked, and goes on.
      leaveOffer()
      resumeSwap(chain)
      expect(takenOffer.peek()).toBeUndefined()
    },
  )

  it('shows no address where the browser does not keep the signed quote, and goes on with what it knows itself', async () => {
    await deposits.allow()
    const [taken, byContract] = [await choice('ADDRESS'), await choice('CONTRACT')]
    const store = vi.spyOn(localStorage, 'setItem').mockImplementation(() => {
      throw new Error('the storage is full')
    })
    onTestFinished(() => void store.mockRestore())
    await takeOffer(taken)
    await takeOffer(taken)
    expect([takenOffer.peek(), isKept.peek()]).toEqual([undefined, false])
    await connect(undefined, {
      onPrompt() {
        throw Object.assign(new Error('the answer is lost'), { code: -32603 })
      },
    })
    await takeOffer(byContract)
    changeSwap(taken.offer.orderId, () => ({ check: 'begun' }))
    expect(isDepositBegun(ownSwap(byContract.chain.chainId, byContract.offer.orderId))).toBe(true)
  })

  it('says of a transfer that nobody has seen no more than that its order has ended', async () => {
    const taken = await choice('ADDRESS')
    await takeOffer(taken)
    expect(stateOf('deposit', shown())).toBe('active')
    reportEnd(taken.offer.orderId, false, 'Ended')
    expect([stateOf('deposit', shown()), stateOf('fill', shown())]).toEqual(['waiting', 'done'])
  })

  it.each([
    ['the wallet has changed to another account', 'has changed to the account'],
    ['the user has left the swap', ''],
  ])('asks for no deposit when %s after the approval', async (what, problem) => {
    const taken = await choice('CONTRACT')
    const wallet: Awaited<ReturnType<typeof connect>> = await connect(undefined, {
      onPrompt: () =>
        what.endsWith('account') ? wallet.emit('accountsChanged', [anyone.address]) : leaveOffer(),
    })
    await takeOffer(taken)
    expect(called(wallet.prompts)).toEqual(['approve'])
    expect(takenOffer.peek()?.problem ?? '').toContain(problem)
    expect(isDepositBegun(ownSwap(taken.chain.chainId, taken.offer.orderId))).toBe(false)
  })

  it('asks a wallet on another chain to change it, and gives one that does not know it the public node', async () => {
    const asked: unknown[] = []
    const known = { error: Object.assign(new Error('unknown'), { code: 4902 }) as Error | undefined }
    const { listeners } = await connect(({ method, params }) => {
      if (method === 'eth_chainId') return '0x1'
      if (!method.endsWith('EthereumChain')) return undefined
      asked.push([method, params?.[0]])
      const { error } = known
      known.error = undefined
      return error ? Promise.reject(error) : {}
    })
    const chain = { ...(await choice('CONTRACT')).chain, name: 'Demo', publicRpcUrl: 'https://rpc.example' }
    await switchChain(chain)
    const switched = ['wallet_switchEthereumChain', { chainId: '0x7a69' }]
    const added = { chainId: '0x7a69', chainName: 'Demo', rpcUrls: ['https://rpc.example'] }
    expect(asked).toEqual([switched, ['wallet_addEthereumChain', expect.objectContaining(added)], switched])
    disconnectWallet()
    expect(listeners.size).toBe(0)
  })
})

function shown(): TakenOffer {
  const taken = takenOffer.peek()
  if (taken === undefined) throw new Error('no offer is taken')
  return taken
}
