import { type Address, domainSeparator, maxUint256, type PublicClient } from 'viem'
import { readSettlement } from '../../../client/src/offers/settlement-terms.js'
import { wordsOf } from '../../../protocol/src/node/node-words.js'
import { simulate } from '../../../protocol/src/node/simulate.js'
import { readTerms } from '../../../protocol/src/settlement/read-settlement.js'
import { createQuoteHasher } from '../../../protocol/src/signing/typed-data.js'
import { USUAL_RESERVATION_BPS } from '../../../protocol/src/solvers/solver.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'
import type { ChainOptions, ChainSettings } from '../solver-options.js'
import { requestOf, settlementCall } from './contract.js'
import type { OpenNode } from './open-node.js'

/** A chain on which the solver quotes, with what its settlement contract asks of quotes. */
export type SolverChain = Awaited<ReturnType<typeof readChain>>

/**
 * Reads the facts of the settlement contract of a chain that never change.
 * @param node of the option `rpc`
 * @throws Error that names the option, with the node's words, when the node or the contract does not answer as it must
 */
export async function readChain(
  chainId: number,
  { rpc: _, settlement, tokens, maxFeePerGas, ...limits }: ChainSettings,
  node: OpenNode,
  protocolName: string,
  solver: Address,
) {
  const { client } = node
  const place = `chains[${chainId}]`
  const nodeChainId = await client
    .getChainId()
    .catch(failed(`${place}.rpc must be a node of chain ${chainId}`))
  if (nodeChainId !== chainId)
    throw new Error(`${place}.rpc must be a node of chain ${chainId}: it answers for chain ${nodeChainId}`)
  const terms = await readSettlement(client, settlement, { protocolName }).catch(
    failed(`${place}.settlement must be a settlement contract`),
  )
  const [{ bondReservationBps = USUAL_RESERVATION_BPS, minOrder = 0n }, hasWords] = await Promise.all([
    readTerms(client.request, { chainId, settlement }),
    takesWords(client, { chainId, settlement }, solver),
  ]).catch(failed(`${place}.settlement must answer its views`))
  return {
    ...limits,
    ...node,
    // Where one refund can release the bond of another order, no quote is small (docs/decisions.md, D23).
    cancelAbove: hasWords ? 0n : limits.cancelAbove,
    /** The contract has `cancelNonces`. */
    hasWords,
    chainId,
    /** Lower case, as the addresses of the tokens. */
    settlement: lowerCase(settlement),
    /** The tokens that the solver trades, with the allowance that the contract is to have of each. */
    tokens: new Map(tokens.map(toAllowance)),
    /** In wei; undefined for a multiple of what the node suggests. */
    maxFeePerGas,
    domain: terms.domain,
    hasher: createQuoteHasher(protocolName, {
      settlement: lowerCase(settlement),
      domainSeparator: domainSeparator({ domain: terms.domain }),
      depositProxyCodeHash: terms.depositProxyCodeHash,
    }),
    /** `BOND_RESERVATION_BPS`; that of all known contracts when the contract has no such view. */
    bondReservationBps,
    /** `MIN_ORDER`; 0 when the contract has no such view. */
    minOrder,
  }
}

/** @returns what throws a sentence with the node's words */
export function failed(mustBe: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`${mustBe}: ${wordsOf(error)}`)
  }
}

function toAllowance(token: ChainOptions['tokens'][number]): [Address, bigint] {
  return typeof token === 'string'
    ? [lowerCase(token), maxUint256]
    : [lowerCase(token.address), token.allowance]
}

/** Asks for the end of no nonce. @throws ChainReadError: an error of the node is not one of the contract */
async function takesWords(
  client: PublicClient,
  contract: { readonly chainId: number; readonly settlement: Address },
  solver: Address,
): Promise<boolean> {
  const { account: from, ...call } = requestOf(solver, settlementCall(contract, 'cancelNonces', [0n, 0n]))
  return (await simulate(client.request, { from, ...call }, 'cancelNonces')) !== undefined
}
