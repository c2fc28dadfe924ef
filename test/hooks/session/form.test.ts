import { describe, expect, it } from 'vitest'
import { documentOf } from '../../../src/extract/dom/dom.js'
import { filledIn, loginForm } from '../../../src/hooks/session/form.js'

const AT = 'https://app.example/account/login?next=/'
const read = (html: string, selector?: string) => loginForm(documentOf(html) as never, AT, selector)

/** What is sent if only the password is filled in. */
function sent(controls: string): string {
  const form = read(`<form id=f>${controls}<input type=password name=p></form>`)
  if (typeof form !== 'object') throw new Error(form)
  return filledIn(form, { p: 'x' }).toString()
}

describe('a form', () => {
  it.each<[string, string]>([
    ['<input name=a value="1 2"><input value=3><input name=b>', 'a=1+2&b=&p=x'],
    ['<input type=checkbox name=a><input type=checkbox name=b checked>', 'b=on&p=x'],
    ['<input type=radio name=a value=1><input type=radio name=a value=2 checked>', 'a=2&p=x'],
    ['<select name=a><option value=1>x<option value=2>y</select>', 'a=1&p=x'],
    ['<select name=a multiple><option selected>x<option selected>y<option>z</select>', 'a=x&a=y&p=x'],
    ['<textarea name=a>\nt&t</textarea>', 'a=t%26t&p=x'],
    ['<input name=a value=1 disabled><fieldset disabled><input name=b></fieldset>', 'p=x'],
    ['<button type=button name=a value=1>a</button><button name=b value=1>b</button>', 'b=1&p=x'],
    ['<input type=submit name=a value=1><input type=submit name=b value=2>', 'a=1&p=x'],
    ['<input type=file name=a><input type=reset name=b><input type=image name=c>', 'p=x'],
    ['<input type=HIDDEN name=a value="é">', 'a=%C3%A9&p=x'],
  ])('with %s sends %s', (controls, expected) => {
    expect(sent(controls)).toBe(expected)
  })

  it('has the fields that name it, and not those of another', () => {
    const form = read(
      '<input name=a form=f><form id=f method=post><input name=b></form><input type=password name=p form=f><form><input name=c></form>',
    )
    expect(form).toMatchObject({ method: 'POST', names: ['a', 'b', 'p'] })
  })

  it.each<[string, string, string]>([
    ['', '', AT],
    ['', 'action=""', AT],
    ['', 'action=check', 'https://app.example/account/check'],
    ['<base href="/x/">', 'action=check', 'https://app.example/x/check'],
    ['<base href="https://cdn.example/">', 'action="//app.example/y#z"', 'https://app.example/y'],
  ])('with %s and %s is sent to %s', (head, action, expected) => {
    expect(read(`${head}<form ${action}><input type=password></form>`)).toMatchObject({ action: expected })
  })

  it.each<[string, string | undefined, RegExp | undefined]>([
    ['<form><input name=q></form>', undefined, undefined],
    ['<form id=a></form>', '#b', undefined],
    ['<div id=a></div>', '#a', undefined],
    [
      '<form method=post enctype="Multipart/Form-Data"><input type=password>',
      undefined,
      /multipart\/form-data/,
    ],
    ['<form action="mailto:a@b.example"><input type=password>', undefined, /not sent to an http\(s\) URL/],
    ['<form action="http://app.example/"><input type=password>', undefined, /sent to http:\/\/app\.example;/],
  ])('%s (%s) cannot be used', (html, selector, problem) => {
    const form = read(html, selector)
    if (problem === undefined) expect(form).toBeUndefined()
    else expect(form).toMatch(problem)
  })
})
