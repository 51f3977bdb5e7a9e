/** Lets one user in after the other, in the order in which they came. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Waits for all who came before. @returns what lets the next one in */
  async enter(): Promise<() => void> {
    const before = this.#last
    let leave = () => {}
    this.#last = new Promise((resolve) => {
      leave = resolve
    })
    await before
    return leave
  }
}
