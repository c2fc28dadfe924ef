/** What the compiler knows about `select()`. */

import { type } from 'arktype'
import { Crawler, type Extractor, select } from 'kumo'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'

describe('select()', () => {
  test('infers texts, lists, optional and nested fields', () => {
    const extractor = select({
      title: 'h1',
      tags: ['.tag'],
      hrefs: { css: 'a', attr: 'href', all: true },
      note: { css: '.note', optional: true },
      offers: { css: '.offer', all: true, fields: { shop: '.shop', ids: ['i'] } },
      seller: { css: '.seller', optional: true, fields: { name: 'b' } },
    })
    expectTypeOf(extractor).toEqualTypeOf<
      Extractor<{
        title: string
        tags: string[]
        hrefs: string[]
        note: string | undefined
        offers: { shop: string; ids: string[] }[]
        seller: { name: string } | undefined
      }>
    >()
  })

  test('infers what schemas make', () => {
    new Crawler()
      .extract(
        select({
          zod: { css: '.a', as: z.coerce.number() },
          maybe: { css: '.a', as: z.string().optional() },
          valibot: { css: '.b', as: v.pipe(v.string(), v.transform(Number)) },
          arktype: { css: '.c', as: type('string.numeric.parse') },
          many: [{ css: '.d', as: z.coerce.date() }],
          item: {
            css: '.e',
            fields: { x: 'i' },
            as: z.object({ x: z.string() }).transform(({ x }) => x.length),
          },
        }),
      )
      .on('page', ({ data }) => {
        expectTypeOf(data).toEqualTypeOf<{
          zod: number
          maybe: string | undefined
          valibot: number
          arktype: number
          many: Date[]
          item: number
        }>()
      })
  })

  test('refuses what is no field', () => {
    // @ts-expect-error: a number is no selector.
    select({ a: 5 })
    // @ts-expect-error: not a schema.
    select({ a: { css: 'h1', as: Number } })
  })
})
