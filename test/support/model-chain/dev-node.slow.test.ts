import { type Address, numberToHex } from 'viem'
import { expect, it } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../chain/chain.js'
import { type Calls, createCalls, eventsOf, revertOf } from '../chain/contract-calls.js'
import { orderIdOf, type ServiceQuote, signQuote } from '../chain/signed-quote.js'
import { shared } from '../shared.js'
import { startModelChain } from './start-model-chain.js'

const [solver] = solverAccounts
const NEVER = 4_000_000_000

/** An order of its own from its deposit to its fill, and what the node says of it, as far as no hash and no number of a block is in it. */
async function play({ devnet, contracts, domain, chainId }: TestChain, replace: (calls: Calls) => unknown) {
  const { settlement, weth, usdc } = contracts
  const calls = createCalls(devnet, settlement)
  const request = calls.client.request as (call: { method: string; params: unknown[] }) => Promise<unknown>
  const ask = async (method: string, ...params: unknown[]) => (await request({ method, params })) as object[]
  const hasCode = async (address: Address) => (await calls.client.getCode({ address })) !== undefined
  await calls.fund(weth, user, 5n)
  await calls.fund(usdc, solver, 70n)
  const quote: ServiceQuote = {
    solver: solver.address,
    user: user.address,
    inputToken: weth,
    inputAmount: 5n,
    outputToken: usdc,
    outputAmount: 70n,
    orderType: 0,
    outputChainId: BigInt(chainId),
    depositDeadline: NEVER,
    fillDeadline: NEVER,
    nonce: 7n,
  }
  const signature = await signQuote(solver, domain, quote)
  const orderId = orderIdOf(quote, signature)
  const deposited = await calls.send(user, 'deposit', [quote, signature])
  const open = await calls.view.orders([orderId])
  const filled = await calls.send(solver, 'fill', [orderId])
  const place = { blockHash: filled.blockHash }
  const { timestamp } = await calls.client.getBlock()
  await calls.client.increaseTime({ seconds: 100 })
  await calls.client.mine({ blocks: 1 })
  const later = await calls.client.getBlock()
  const [log] = await ask('eth_getLogs', { ...place, address: settlement })
  const [receipt] = await ask('eth_getBlockReceipts', numberToHex(filled.blockNumber))
  return {
    said: {
      events: [deposited, filled].map(eventsOf),
      states: [open, await calls.view.orders([orderId])],
      before: await calls.view.orders([orderId], { blockNumber: deposited.blockNumber }),
      again: await revertOf(calls.send(solver, 'fill', [orderId])),
      balances: [await calls.balanceOf(usdc, user.address), await calls.balanceOf(weth, solver.address)],
      isLater: later.timestamp >= timestamp + 100n,
      unknownBlock: await ask('eth_getBlockByHash', `0x${'00'.repeat(32)}`, false),
      heads: await replaceHead(calls, settlement, () => replace(calls)),
      hasCode: await Promise.all([weth, user.address].map((address) => hasCode(address))),
    },
    shapes: { log, receipt, block: await ask('eth_getBlockByNumber', 'latest', false) },
  }
}

/** What the node says of its head: that it has a call, that another block without it has replaced it, and that one came after that. */
async function replaceHead(calls: Calls, settlement: Address, replace: () => unknown) {
  const { blockNumber, blockHash, transactionHash } = await calls.send(solver, 'cancelNonce', [9n])
  const countLogs = async (fromBlock: bigint, toBlock: bigint) =>
    (await calls.client.getLogs({ address: settlement, fromBlock, toBlock })).length
  async function look() {
    const { number, hash, parentHash } = await calls.client.getBlock()
    const parent = await calls.client.getBlock({ blockHash: parentHash })
    return {
      heads: [
        number - blockNumber,
        parent.number - blockNumber,
        hash === blockHash,
        parentHash === blockHash,
      ],
      logs: [await countLogs(0n, blockNumber - 1n), await countLogs(blockNumber, blockNumber)],
      beyond: await countLogs(blockNumber, blockNumber + 9n).catch(() => 'refused'),
      isKnown: await calls.client.getTransactionReceipt({ hash: transactionHash }).then(
        () => true,
        () => false,
      ),
      isUsed: await calls.view.isNonceUsed([solver.address, 9n]),
    }
  }
  const looks = [await look()]
  await replace()
  looks.push(await look())
  await calls.client.mine({ blocks: 1 })
  return [...looks, await look()]
}

it('the development node of the model answers as anvil does', async () => {
  const chain = await shared(startModelChain({ bonded: 1 }))
  const anvil = await play(await shared(startChain({ bonded: 1 })), ({ client }) =>
    client.request({ method: 'anvil_reorg', params: [1, []] } as never),
  )
  const model = await play(chain, () => {
    chain.model.rollBack(1)
    chain.model.mine(chain.model.head().timestamp)
  })
  expect(model.said).toEqual(anvil.said)
  for (const [name, shape] of Object.entries(model.shapes))
    expect(Object.keys(anvil.shapes[name as 'log'] ?? {}), name).toEqual(
      expect.arrayContaining(Object.keys(shape ?? {})),
    )
})
