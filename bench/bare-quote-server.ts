/** The limit for solvers with endpoints: a bare server (`bare-quotes.ts`) that asks them over undici's pools. */
import { Pool } from 'undici'
import { type BareReply, serveBareQuotes } from './bare-quotes.js'

const HEADERS = { 'content-type': 'application/json' }
const pools = (JSON.parse(process.argv[2] ?? '') as string[]).map((endpoint) => new Pool(endpoint))

serveBareQuotes(async (solver, body) => {
  const pool = pools[solver]
  if (pool === undefined) throw new Error(`there is no solver ${solver}`)
  const response = await pool.request({ path: '/quote', method: 'POST', headers: HEADERS, body })
  return (await response.body.json()) as BareReply
})
