import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that do not wait, after each that waits. With fewer, the last of those that wait would begin early; with more, too late. */
const OTHERS_BETWEEN = 4

/**
 * Spreads the files `*.waiting.test.ts` of a project among its other files, so that there is always work for both cores.
 * Otherwise, the order is that of vitest: long files first, or large ones on a clean checkout.
 */
export class SpreadWaiting extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) => spread(sorted.filter((file) => file.project === project)))
  }
}

function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const isWaiting = ({ moduleId }: TestSpecification) => moduleId.includes('.waiting.')
  const others = files.filter((file) => !isWaiting(file))
  const waiting = files.filter(isWaiting)
  const mixed = waiting.flatMap((file, index) => [
    file,
    ...others.slice(index * OTHERS_BETWEEN, (index + 1) * OTHERS_BETWEEN),
  ])
  return [...mixed, ...others.slice(waiting.length * OTHERS_BETWEEN)]
}
