import { createRpcClient } from '../../../packages/chain/src/rpc-client.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import type { ChainConfig, Config } from '../../config/config.js'
import type { StoredContent } from '../../store/stored-content.js'
import { checkContract } from './check-contract.js'
import { type ExaminedEndpoint, examineEndpoint } from './check-endpoint.js'
import { type CheckResult, createReport } from './check-result.js'
import { checkTokenList } from './check-token-list.js'

type UsableEndpoint = ExaminedEndpoint & { readonly head: NonNullable<ExaminedEndpoint['head']> }

/** Checks a chain's endpoints, each alone and against the others, its settlement contract and its list of tokens. */
export async function examineChain(
  chain: ChainConfig,
  config: Config,
  { lastBlocks }: Pick<StoredContent, 'lastBlocks'>,
): Promise<readonly CheckResult[]> {
  const rpc = createRpcClient(chain.rpcUrls)
  const lastBlock = lastBlocks.get(chain.chainId)
  try {
    const endpoints = await Promise.all(
      rpc.endpoints.map((endpoint, index) => examineEndpoint(chain, endpoint, index, lastBlock)),
    )
    const usable = endpoints.filter((endpoint): endpoint is UsableEndpoint => endpoint.head !== undefined)
    const client = usable[0]?.endpoint.client
    const others = await Promise.all([
      checkAgreement(chain, usable),
      checkContract(chain, client, config),
      checkTokenList(chain, client),
    ])
    return [...endpoints.flatMap(({ checkResults }) => checkResults), ...others.flat()]
  } finally {
    rpc.close()
  }
}

/** Checks that all endpoints have the same block at the lowest head. */
async function checkAgreement(
  { chainId }: ChainConfig,
  endpoints: readonly UsableEndpoint[],
): Promise<readonly CheckResult[]> {
  const { ok, warn, fail, list } = createReport(`RPC_URL_${chainId}`)
  if (endpoints.length < 2) return list
  const lowest = Math.min(...endpoints.map(({ head }) => head.number))
  try {
    const headers = await Promise.all(endpoints.map(({ reader }) => reader.header(lowest)))
    const isAgreed = new Set(headers.map(({ hash }) => hash)).size === 1
    const wrong = `All URLs of RPC_URL_${chainId} must belong to one network. Compare block ${lowest} with an explorer.`
    if (isAgreed) ok('agreement', `all endpoints have the same block ${lowest}`)
    else fail('agreement', `the endpoints have different blocks ${lowest}`, wrong)
  } catch (error) {
    warn('agreement', `block ${lowest} could not be compared: ${wordsOf(error)}`)
  }
  return list
}
