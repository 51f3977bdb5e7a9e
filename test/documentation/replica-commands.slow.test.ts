import { expect, it } from 'vitest'
import { createPostgresDatabase } from '../support/databases/postgres-database.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { startModelChain } from '../support/model-chain/start-model-chain.js'
import { BUILT } from '../support/process/built.js'
import { startProcess } from '../support/process/process.js'
import { readMetrics } from '../support/service/metrics.js'
import { environmentFor } from '../support/service/service.js'
import { shared } from '../support/shared.js'
import { codeBlocks } from './code-blocks.js'
import { WITH_EXAMPLES } from './documents.js'

const blocks = WITH_EXAMPLES.flatMap((document) => codeBlocks(document)).filter(
  ({ marker }) => marker === 'example: replicas',
)

const chain = await shared(startModelChain({ bonded: 0 }))

/** Runs a command of a document with a database, a port and a build of the test. @returns the process and its URL */
async function run(command: string, databaseUrl: string) {
  const port = await freePort()
  const own = command
    .replace(/DATABASE_URL=\S+/, `DATABASE_URL='${databaseUrl}'`)
    .replace(/ PORT=\d+/, ` PORT=${port}`)
    .replace('npm start', `exec '${process.execPath}' ${BUILT}/main.js`)
  expect(own).toContain(`${BUILT}/main.js`)
  const started = startProcess('/bin/sh', ['-c', own], environmentFor(chain))
  await started.waitFor(/listening/)
  return { ...started, url: `http://127.0.0.1:${port}` }
}

it('the commands of the documents start two replicas, and one goes on when the other ends', async () => {
  expect(blocks).toHaveLength(1)
  const databaseUrl = await createPostgresDatabase()
  const commands = blocks.flatMap(({ code }) => code.trim().split('\n'))
  expect(commands).toHaveLength(2)
  const [first, second] = await Promise.all(commands.map((command) => run(command, databaseUrl)))
  if (first === undefined || second === undefined) throw new Error('two replicas must run')
  const isLeader = async ({ url }: { readonly url: string }) =>
    (await readMetrics(url)).sum('aggregator_chain_leader')
  const leaders = await eventually(
    () => Promise.all([first, second].map(isLeader)),
    (found) => found.includes(1),
  )
  expect(leaders.toSorted()).toEqual([0, 1])
  const [leader, other] = leaders[0] === 1 ? [first, second] : [second, first]
  leader.child.kill('SIGKILL')
  await eventually(
    () => isLeader(other),
    (count) => count === 1,
  )
  expect((await fetch(`${other.url}/v1/${chain.chainId}/solvers`)).status).toBe(200)
})
