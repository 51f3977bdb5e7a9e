import { createRpcClient } from '../../../packages/chain/src/rpc-client.js'
import { wordsOf } from '../../../packages/protocol/src/node-words.js'
import type { ChainConfig, Config } from '../../config/config.js'
import type { StoredContent } from '../../store/stored-content.js'
import { checkContract } from './check-contract.js'
import { type ExaminedEndpoint, examineEndpoint } from './check-endpoint.js'
import { type CheckResult, createReport } from './check-result.js'
import { checkTokenList } from './check-token-list.js'

/** The check results of a chain. */
export interface ExaminedChain {
  readonly checkResults: readonly CheckResult[]
  /** Ages of the heads by this machine's clock, in milliseconds. */
  readonly headAgesMs: readonly number[]
}

type UsableEndpoint = ExaminedEndpoint & { readonly head: NonNullable<ExaminedEndpoint['head']> }

/** An endpoint may lag another one by this many blocks without a warning. */
const USUAL_LAG_BLOCKS = 3

/** Checks a chain's endpoints, each alone and against the others, its settlement contract and its list of tokens. */
export async function examineChain(
  chain: ChainConfig,
  config: Config,
  { lastBlocks }: Pick<StoredContent, 'lastBlocks'>,
): Promise<ExaminedChain> {
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
    return {
      checkResults: [
        ...endpoints.flatMap(({ checkResults }) => checkResults),
        ...checkDuplicates(chain),
        ...checkStartBlock(chain, usable),
        ...others.flat(),
      ],
      headAgesMs: usable.map(({ headAgeMs }) => headAgeMs),
    }
  } finally {
    rpc.close()
  }
}

/** Warns of URLs that occur more than once. An endpoint cannot replace itself when it fails. */
function checkDuplicates({ chainId, rpcUrls }: ChainConfig): readonly CheckResult[] {
  const urls = rpcUrls.map((url) => new URL(url).href)
  const { warn, list } = createReport(`RPC_URL_${chainId}`)
  urls.forEach((url, index) => {
    const first = urls.indexOf(url)
    if (first < index)
      warn(`URL ${index + 1}`, `is the same as URL ${first + 1}`, 'Use another endpoint, or remove it.')
  })
  return list
}

/** Warns of a START_BLOCK that the chain has not reached. */
function checkStartBlock(
  { chainId, startBlock = 0 }: ChainConfig,
  endpoints: readonly UsableEndpoint[],
): readonly CheckResult[] {
  const { warn, list } = createReport(`START_BLOCK_${chainId}`)
  const head = Math.max(...endpoints.map((endpoint) => endpoint.head.number))
  if (endpoints.length === 0 || startBlock <= head + 1) return list
  const remedy =
    'Set it to the first block of the contract. It has no effect after the database has stored a position.'
  warn('', `is ${startBlock}, above the head ${head}: no event is published before that block`, remedy)
  return list
}

/** Checks that the heads of the endpoints are close together, and that all endpoints have the same block at the lowest head. */
async function checkAgreement(
  { chainId }: ChainConfig,
  endpoints: readonly UsableEndpoint[],
): Promise<readonly CheckResult[]> {
  const { ok, warn, fail, judge, list } = createReport(`RPC_URL_${chainId}`)
  if (endpoints.length < 2) return list
  const numbers = endpoints.map(({ head }) => head.number)
  const [lowest, highest] = [Math.min(...numbers), Math.max(...numbers)]
  const remedy = 'The service skips an endpoint that lags. Put the endpoint with the highest head first.'
  judge('heads', highest - lowest <= USUAL_LAG_BLOCKS, `heads at ${numbers.join(', ')}`, remedy)
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
