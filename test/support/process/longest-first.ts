import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that wait for longest. A worker that begins one late runs alone at the end of its project. */
const LONGEST = [
  'service/session-backlog.waiting',
  'service/quote-streams.waiting',
  'service/order-answers.waiting',
  'service/session-replicas.waiting',
  'service/session-end-timeout.waiting',
  'service/endpoint-names.waiting',
  'service/grpc-health.waiting',
]

/**
 * Starts the longest files of a project first. After a first run, vitest orders files by the time that they took; on a clean
 * checkout, it only has their sizes.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => moduleId.includes(`/${name}.`))
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project)
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))]
    })
  }
}
