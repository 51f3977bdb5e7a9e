import secp256k1 from 'secp256k1'
import { createRpcClient } from '../chain/rpc-client.js'
import { createSettlement } from '../chain/settlement.js'
import type { Address, Hex } from '../domain/hex.js'
import type { Quote } from '../domain/quote.js'
import { createQuoteHasher } from '../signing/typed-data.js'
import type { DevAccount, Devnet } from './deploy.js'

/** Signs quotes for one settlement contract. */
export type QuoteSigner = (quote: Quote) => { signature: Hex; orderId: Hex; depositAddress: Address }

interface QuoteSignerOptions extends Devnet {
  readonly account: DevAccount
  readonly settlement: Address
  /** The signer's contract takes quotes of the primary type `<name>Quote`. */
  readonly protocolName: string
}

/** Builds a signer for the EIP-712 domain that the contract reports. */
export async function createQuoteSigner(options: QuoteSignerOptions): Promise<QuoteSigner> {
  const { client } = createRpcClient([options.rpcUrl])
  const settlement = createSettlement(client, options.chainId, options.settlement)
  const hasher = createQuoteHasher(options.protocolName, await settlement.readDomain(options.protocolName))
  const { privateKey } = options.account.getHdKey()
  if (privateKey === null) throw new Error('a development account has a private key')

  return (quote) => {
    const { structHash, digest } = hasher.hash(quote)
    const { signature, recid } = secp256k1.ecdsaSign(digest, privateKey)
    const bytes = Buffer.concat([signature, Buffer.of(27 + recid)])
    return { signature: `0x${bytes.toString('hex')}`, ...hasher.identify(structHash, bytes) }
  }
}
