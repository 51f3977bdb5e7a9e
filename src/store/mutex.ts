/** Admits one user at a time, in the order of their calls. */
export class Mutex {
  #last: Promise<void> = Promise.resolve()

  /** Waits for all earlier users. @returns the function that admits the next user */
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
