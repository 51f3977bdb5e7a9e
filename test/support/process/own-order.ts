import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Small files that take long. Vitest begins with large files on a clean checkout: it does not know yet how long they take. */
const LONG = [
  'solver-stats.waiting',
  'session-backlog.waiting',
  'quote-streams.waiting',
  'order-answers.waiting',
  'session-replicas.waiting',
  'bad-solvers-together.quiet',
  'node-bodies.quiet',
]
/** After each waiting file come so many others, so that the last waiting file does not begin late. */
const OTHERS_BETWEEN = 2

/**
 * The order of the files of each project: long ones first, and those that wait for most of their time spread among the
 * others, so that there is always work for the cores.
 */
export class OwnOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) => {
      const [long, short] = split(
        sorted.filter((file) => file.project === project),
        ({ moduleId }) => LONG.some((name) => moduleId.includes(`/${name}.`)),
      )
      return spread([...long, ...short])
    })
  }
}

function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const [waiting, others] = split(files, ({ moduleId }) => moduleId.includes('.waiting.'))
  const mixed = waiting.flatMap((file, index) => {
    const start = index * OTHERS_BETWEEN
    return [file, ...others.slice(start, start + OTHERS_BETWEEN)]
  })
  return [...mixed, ...others.slice(waiting.length * OTHERS_BETWEEN)]
}

function split<T>(values: readonly T[], isFirst: (value: T) => boolean): [T[], T[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))]
}
