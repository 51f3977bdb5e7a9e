import { type Abi, type Address, getAddress, type Hex } from 'viem'
import { settlementAbi, settlementBytecode } from '../../../gen/contracts/settlement.js'
import {
  createDevnetClient,
  type Devnet,
  devAccounts,
  mined,
} from '../../../packages/cli/src/devnet/deploy.js'
import { compile } from '../../../scripts/compile-contracts.js'

const SOURCE = 'test/support/chain/OddTokens.sol'
const [, , , , , , , , , deployer] = devAccounts

type OddContract = 'RawToken' | 'BurningToken' | 'LongToken' | 'LookupToken' | 'OldSettlement'

let artifacts: ReturnType<typeof compile>[string] | undefined

/** Compiles at the first call, which takes seconds, and deploys a contract of OddTokens.sol. */
export function deployOdd(
  devnet: Devnet,
  name: OddContract,
  args: readonly unknown[] = [],
): Promise<Address> {
  artifacts ??= compile([SOURCE])[SOURCE]
  const artifact = artifacts?.[name]
  if (artifact === undefined) throw new Error(`the compiler returned no ${name} for ${SOURCE}`)
  return deploy(devnet, { abi: artifact.abi as Abi, bytecode: `0x${artifact.evm.bytecode.object}`, args })
}

/** Deploys the settlement contract with any token for its bonds. */
export function deploySettlementOf(devnet: Devnet, bondToken: Address): Promise<Address> {
  return deploy(devnet, { abi: settlementAbi, bytecode: settlementBytecode, args: [bondToken, 0n] })
}

async function deploy(
  devnet: Devnet,
  contract: { abi: Abi; bytecode: Hex; args: readonly unknown[] },
): Promise<Address> {
  const client = createDevnetClient(devnet, deployer)
  const { contractAddress } = await mined(client, await client.deployContract(contract))
  if (!contractAddress) throw new Error('the deployment left no contract')
  return getAddress(contractAddress)
}
