import { postJson } from './callers.js'

/**
 * Asks for one quote. @throws Error when it has another number of offers; it names what came of the other solvers, where the server
 * has a record of the quote
 */
export async function expectOffers(url: string, body: unknown, count: number): Promise<void> {
  const { alternativeQuotes, quoteId } = await postJson(url, body)
  const offers = alternativeQuotes.length + 1
  if (offers === count) return
  const problem = `${offers} offers from ${url} instead of ${count}`
  if (quoteId === undefined) throw new Error(problem)
  const answer = await fetch(`${url}/${quoteId}`)
  const { solvers } = (await answer.json()) as { solvers: { outcome: string }[] }
  const others = solvers.filter(({ outcome }) => outcome !== 'QUOTED')
  throw new Error(`${problem}, asked ${solvers.length}: ${JSON.stringify(others)}`)
}
