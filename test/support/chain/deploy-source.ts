import { type Abi, type Address, getAddress, type Hex } from 'viem'
import {
  createDevnetClient,
  type Devnet,
  devAccounts,
  mined,
} from '../../../packages/cli/src/devnet/deploy.js'
import { compile } from '../../../scripts/compile-contracts.js'

const FOLDER = 'test/support/chain'

/**
 * Compiles a contract of this folder, which takes seconds.
 * @param name the name of the file without `.sol`, and of its contract
 * @returns its ABI, and a function that deploys it
 */
export function compileSource(name: string) {
  const source = `${FOLDER}/${name}.sol`
  const artifact = compile([source])[source]?.[name]
  if (artifact === undefined) throw new Error(`the compiler returned nothing for ${source}`)
  const abi = artifact.abi as Abi
  const bytecode: Hex = `0x${artifact.evm.bytecode.object}`
  return {
    abi,
    async deploy(devnet: Devnet, args: readonly unknown[] = []): Promise<Address> {
      const client = createDevnetClient(devnet, devAccounts[0])
      const { contractAddress } = await mined(client, await client.deployContract({ abi, bytecode, args }))
      if (!contractAddress) throw new Error(`the deployment of ${name} left no contract`)
      return getAddress(contractAddress)
    },
  }
}
