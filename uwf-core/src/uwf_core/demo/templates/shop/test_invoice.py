"""What an invoice comes to."""

import unittest

from invoice import total, vat


class InvoiceTest(unittest.TestCase):
    """Amounts are whole cents."""

    def test_nothing_costs_nothing(self) -> None:
        self.assertEqual(total([]), 0)

    def test_the_tax_on_a_round_amount(self) -> None:
        self.assertEqual(vat(1000), 190)

    def test_the_total_is_exact_to_the_cent(self) -> None:
        self.assertEqual(total([99, 100]), 237)
