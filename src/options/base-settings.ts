import { DEFAULTS, type GivenOptions } from './options.js'

/** The options as a frozen value, and the step from one crawler to the next. */
export abstract class BaseSettings {
  /** Written only by `with`, before the new crawler is returned. */
  #options: GivenOptions = DEFAULTS

  protected get options(): GivenOptions {
    return this.#options
  }

  protected with(change: Partial<GivenOptions>): this {
    const next = new (this.constructor as new () => this)()
    next.#options = Object.freeze({ ...this.#options, ...change })
    return next
  }
}
