/**
 * Writes the examples of the API reference from real requests to a service on a local chain.
 *
 *   tsx scripts/capture-examples.ts [outFile=gen/examples.json]
 *
 * Then run `npm run generate`, which puts them into the documents.
 */
import { writeFileSync } from 'node:fs'
import { causeAnswers } from '../test/support/openapi/answers.js'
import { captureExamples } from '../test/support/openapi/capture-examples.js'
import { startOpenApiFixture } from '../test/support/openapi/fixture.js'
import { EXAMPLES_FILE } from './openapi/contract.js'

async function main(outFile: string | URL): Promise<void> {
  const fixture = await startOpenApiFixture()
  const examples = await captureExamples(fixture, await causeAnswers(fixture))
  await fixture.close()
  writeFileSync(outFile, `${JSON.stringify(examples, undefined, 2)}\n`)
}

await main(process.argv[2] ?? EXAMPLES_FILE)
