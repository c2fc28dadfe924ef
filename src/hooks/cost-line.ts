/** What a hook learns about the time that its pages take. */

/** What earlier pages count for, after one more page. */
const MEMORY = 0.98

/** Least squares over what was observed, the latest first. */
export class CostLine {
  #count = 0
  #x = 0
  #y = 0
  #xx = 0
  #xy = 0

  get count(): number {
    return this.#count
  }

  add(x: number, y: number): void {
    this.#count = this.#count * MEMORY + 1
    this.#x = this.#x * MEMORY + x
    this.#y = this.#y * MEMORY + y
    this.#xx = this.#xx * MEMORY + x * x
    this.#xy = this.#xy * MEMORY + x * y
  }

  /** Never negative: with pages of one size there is no slope, and then it goes through the origin. */
  at(x: number): number {
    const spread = this.#count * this.#xx - this.#x * this.#x
    const slope =
      spread > 1e-6 * this.#xx * this.#count
        ? (this.#count * this.#xy - this.#x * this.#y) / spread
        : this.#y / (this.#x || 1)
    const start = (this.#y - slope * this.#x) / this.#count
    return slope < 0 || start < 0 ? (x * this.#y) / (this.#x || 1) : start + slope * x
  }
}
