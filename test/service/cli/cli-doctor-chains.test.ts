import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getAbiItem, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { type Anvil, startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import { deploySettlement } from '../../../packages/cli/src/devnet/deploy.js'
import { deployer } from '../../support/chain/chain.js'
import { type RpcProxy, startRpcProxy } from '../../support/faults/rpc-proxy.js'
import { type DoctorFixture, startDoctorFixture } from '../../support/process/doctor.js'

const HOUR = 3600
/** `eip712Domain()` */
const DOMAIN = '0x84b0196e'
/** `BOND_RESERVATION_BPS()` */
const BOND_RESERVATION_BPS = '0x8e0d2385'
/** `MIN_ORDER()` */
const MIN_ORDER = '0x8f9d713c'
const DEPOSIT_ADDRESS = toFunctionSelector(getAbiItem({ abi: settlementAbi, name: 'computeDepositAddress' }))
const NO_CONTRACT = `0x${'11'.repeat(20)}`

let fixture: DoctorFixture
/** Another network with the same chain id, whose clock is an hour ahead. */
let stranger: Anvil
let proxy: RpcProxy
let environment: DoctorFixture['environment']

beforeAll(async () => {
  const inAnHour = String(Math.floor(Date.now() / 1000) + HOUR)
  const starting = [startDoctorFixture(), startAnvil({ extraArgs: ['--timestamp', inAnHour] })] as const
  ;[fixture, stranger] = await Promise.all(starting)
  proxy = await startRpcProxy(fixture.chain.devnet.rpcUrl)
  environment = fixture.environment
})
afterAll(async () => {
  proxy?.close()
  await stranger?.stop()
  await fixture?.close()
})

const diagnose: DoctorFixture['diagnose'] = (changes) => fixture.diagnose(changes)

describe('RPC endpoints', () => {
  it('pass with a WebSocket endpoint', async () => {
    const { failed, find } = await diagnose({ RPC_URL_31337: proxy.wsUrl })
    expect(failed).toEqual([])
    expect(find('RPC_URL_31337 eth_getLogs')?.status).toBe('ok')
  })

  it('fail with the member of an answer that keeps the next block from being read', async () => {
    proxy.intercept(async ({ method }, pass) => {
      if (method === 'eth_getLogs') return { result: 'pruned' }
      const reply = await pass()
      const unknown = { logsBloom: null, transactions: null }
      return method.startsWith('eth_getBlockBy')
        ? { result: { ...(reply.result as object), ...unknown } }
        : reply
    })
    onTestFinished(() => proxy.intercept())
    const { failed, find } = await diagnose({ RPC_URL_31337: proxy.url })
    expect(failed).toEqual(['RPC_URL_31337 block'])
    expect(find('RPC_URL_31337 block')?.checkResult).toMatch(/^block \d+ cannot be read at logs: /)
  })

  it('fail for a dead endpoint next to a live one', async () => {
    const { failed, find } = await diagnose({
      RPC_URL_31337: `http://127.0.0.1:9,${environment.RPC_URL_31337}`,
    })
    expect(failed).toEqual(['RPC_URL_31337 URL 1 reachable'])
    expect(find('RPC_URL_31337 URL 1 reachable')?.checkResult).toMatch(/^127\.0\.0\.1:9 does not answer: .+/)
    expect(find('RPC_URL_31337 URL 2 chain id')?.status).toBe('ok')
    expect(find('SERVICE_ADDRESS_31337 protocol')?.status).toBe('ok')
  })

  it('name a dead endpoint only by its host, because its URL may contain a key', async () => {
    proxy.setUp(false)
    onTestFinished(() => proxy.setUp(true))
    const { checkResults, failed, warned, find } = await diagnose({
      RPC_URL_31337: `${proxy.url}/v3/secret-key`,
    })
    expect(failed).toEqual(['RPC_URL_31337 reachable'])
    expect(warned).toEqual(['SERVICE_ADDRESS_31337', 'clock'])
    expect(JSON.stringify(checkResults)).not.toContain('secret-key')
    expect(find('RPC_URL_31337 reachable')?.checkResult).toContain('503')
  })

  it('fail with both chain ids for an endpoint of another chain', async () => {
    const { failed, find } = await diagnose({
      SUPPORTED_CHAINS: '1',
      RPC_URL_1: environment.RPC_URL_31337,
      SERVICE_ADDRESS_1: environment.SERVICE_ADDRESS_31337,
    })
    expect(failed).toEqual(['RPC_URL_1 chain id'])
    expect(find('RPC_URL_1 chain id')).toMatchObject({
      checkResult: 'answers for chain 31337, and not for 1',
      remedy: expect.stringContaining('RPC_URL_1, or correct SUPPORTED_CHAINS'),
    })
  })

  it('fail for two networks with one chain id, as does a clock that is far too early', async () => {
    const both = `${environment.RPC_URL_31337},${stranger.url}`
    const { failed, find } = await diagnose({ RPC_URL_31337: both })
    expect(failed).toEqual(['RPC_URL_31337 agreement', 'clock'])
    expect(find('clock')).toMatchObject({
      checkResult: expect.stringMatching(/^it is 60 min earlier/),
      remedy: "Set the machine's clock, by NTP for example.",
    })
  })

  it('get a warning for an endpoint without batches, which is checked by single calls', async () => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      if (body.startsWith('[')) return void response.writeHead(400).end()
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(fixture.chain.devnet.rpcUrl, { method: 'POST', headers, body })
      response.end(await answer.text())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => server.closeAllConnections())
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { checkResults, failed, warned } = await diagnose({ RPC_URL_31337: url })
    expect([failed, warned]).toEqual([[], ['RPC_URL_31337 batches']])
    const names = (await diagnose({})).checkResults.map(({ check }) => check)
    expect(checkResults.map(({ check }) => check)).toEqual(names.toSpliced(4, 0, 'RPC_URL_31337 batches'))
  })

  it('fail without logs by block hash, and get a warning without calls by block hash', async () => {
    onTestFinished(() => proxy.intercept())
    proxy.intercept(async ({ method, params }, pass) => {
      const [filter, block] = (params ?? []) as [{ blockHash?: string }, unknown]
      const isByHash = (method === 'eth_getLogs' && filter.blockHash) || typeof block === 'object'
      return isByHash ? { error: { code: -32602, message: 'invalid params' } } : pass()
    })
    const { failed, warned } = await diagnose({ RPC_URL_31337: proxy.url })
    expect(failed).toEqual(['RPC_URL_31337 eth_getLogs'])
    expect(warned).toEqual(['RPC_URL_31337 eth_call'])
  })

  it('get a warning without receipts, because nothing proves that the events are complete', async () => {
    onTestFinished(() => proxy.intercept())
    proxy.intercept(async ({ method }, pass) =>
      method === 'eth_getBlockReceipts' ? { error: { code: -32601, message: 'no such method' } } : pass(),
    )
    const { failed, warned } = await diagnose({ RPC_URL_31337: proxy.url })
    expect([failed, warned]).toEqual([[], ['RPC_URL_31337 eth_getBlockReceipts']])
  })
})

describe('the settlement contract', () => {
  it('fails when it does not exist', async () => {
    const { failed, find } = await diagnose({ SERVICE_ADDRESS_31337: NO_CONTRACT })
    expect(failed).toEqual(['SERVICE_ADDRESS_31337'])
    expect(find('SERVICE_ADDRESS_31337')?.checkResult).toBe(
      `is ${NO_CONTRACT}, where chain 31337 has no contract`,
    )
  })

  it('fails when it is another contract', async () => {
    const { failed } = await diagnose({ SERVICE_ADDRESS_31337: fixture.chain.contracts.weth })
    expect(failed).toEqual(['SERVICE_ADDRESS_31337'])
  })

  it('gets a warning when it does not return its domain', async () => {
    proxy.revert(DOMAIN)
    onTestFinished(() => proxy.intercept())
    const { settlement } = await deploySettlement({ ...fixture.chain.devnet, deployer, protocolName: 'Acme' })
    const { failed, warned, find } = await diagnose({
      RPC_URL_31337: proxy.url,
      SERVICE_ADDRESS_31337: settlement,
      PROTOCOL_NAME: 'Acme',
    })
    expect([failed, warned]).toEqual([[], ['SERVICE_ADDRESS_31337 EIP-712 domain']])
    expect(find('SERVICE_ADDRESS_31337 EIP-712 domain')?.checkResult).toContain('name Acme and version 1')
  })

  it('fails when it hashes quotes with another name than PROTOCOL_NAME', async () => {
    const { failed, find } = await diagnose({ PROTOCOL_NAME: 'Wrong' })
    expect(failed).toEqual(['PROTOCOL_NAME'])
    expect(find('PROTOCOL_NAME')?.checkResult).toMatch(
      /^is "Wrong", .* does not hash quotes as WrongQuote: it must be /,
    )
  })

  it('gets a warning without the view that shows the name', async () => {
    proxy.revert(DEPOSIT_ADDRESS)
    onTestFinished(() => proxy.intercept())
    const { failed, warned, find } = await diagnose({ RPC_URL_31337: proxy.url, PROTOCOL_NAME: 'Wrong' })
    expect([failed, warned]).toEqual([[], ['SERVICE_ADDRESS_31337 PROTOCOL_NAME']])
    expect(find('SERVICE_ADDRESS_31337 PROTOCOL_NAME')?.checkResult).toContain('no computeDepositAddress')
  })

  it('is reported with the values of its views for offers', async () => {
    const { warned, find } = await diagnose({})
    expect(warned).toEqual([])
    expect(find('SERVICE_ADDRESS_31337 bond cover')?.checkResult).toContain("5 % of an offer's output")
    expect(find('SERVICE_ADDRESS_31337 minimum order')?.checkResult).toContain('at least 20 ')
  })

  it.each([
    ['bond cover', BOND_RESERVATION_BPS, 'has no BOND_RESERVATION_BPS'],
    ['minimum order', MIN_ORDER, 'has no MIN_ORDER'],
  ])('gets a warning without the view for the %s', async (check, selector, words) => {
    proxy.revert(selector)
    onTestFinished(() => proxy.intercept())
    const { failed, warned, find } = await diagnose({ RPC_URL_31337: proxy.url })
    expect([failed, warned]).toEqual([[], [`SERVICE_ADDRESS_31337 ${check}`]])
    expect(find(`SERVICE_ADDRESS_31337 ${check}`)?.checkResult).toContain(words)
  })
})

describe('the list of tokens', () => {
  const listOf = (...tokens: [address: string, decimals: number][]) => {
    const path = join(mkdtempSync(join(fixture.folder, 'tokens-')), 'tokens.json')
    const entries = tokens.map(([address, decimals]) => ({
      chainId: 31337,
      address,
      symbol: 'ABC',
      decimals,
    }))
    writeFileSync(path, JSON.stringify({ name: 'Tokens', tokens: entries }))
    return diagnose({ TOKEN_LIST_31337: path })
  }

  it('passes with the decimals of the chain', async () => {
    const { weth, usdc } = fixture.chain.contracts
    const { failed, warned, find, checkResults } = await listOf([weth, 18], [usdc, 6])
    // A bond of 6 decimals covers hardly any WETH.
    expect([failed, warned]).toEqual([[], ['SERVICE_ADDRESS_31337 bond']])
    const said = checkResults.map(({ checkResult }) => checkResult)
    expect(said).toContain('a miss of 1 ABC costs 0.05 bUSD')
    expect(said).toContainEqual(
      expect.stringMatching(
        /^a miss of 1 ABC costs 50000000000 bUSD: it cannot be quoted, as a bond of MIN_SOLVER_BOND covers 0\.0\d+ ABC$/,
      ),
    )
    expect(find('TOKEN_LIST_31337')?.checkResult).toBe('the decimals of 2 tokens are those of the chain')
  })

  it('fails with wrong decimals, and gets a warning for what is no token', async () => {
    const { usdc, settlement } = fixture.chain.contracts
    const { failed, warned, find } = await listOf([usdc, 18], [settlement, 18])
    const [token, other] = [usdc, settlement].map((address) => `TOKEN_LIST_31337 ABC (${address})`)
    const bond = 'SERVICE_ADDRESS_31337 bond'
    expect([failed, warned]).toEqual([[token], [bond, bond, other]])
    expect(find(token ?? '')?.checkResult).toBe('has 6 decimals, and 18 in the list')
  })
})
