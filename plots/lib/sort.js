// SPDX-License-Identifier: BSD-3-Clause
'use strict';
// Tables can be sorted by any column: the head's text becomes a button. Without JavaScript the
// tables simply keep the order of the run.
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const value = (row) => {
        const cell = row.cells[column];
        return cell ? cell.dataset.value ?? cell.textContent : '';
      };
      const rows = [...table.tBodies[0].rows];
      // Rows without a number go to the end, whichever way it is sorted.
      rows.sort((one, two) => {
        const a = value(one), b = value(two);
        if (a === '' || b === '') return (a === '') - (b === '');
        const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
